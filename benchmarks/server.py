"""A PostgreSQL server for tests and benchmarks, which runs in a temporary folder while a `with` block lasts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def programs() -> Path | None:
    """The folder of initdb and postgres, if they are installed."""
    initdb = shutil.which("initdb")
    folders = [Path(initdb).resolve().parent] if initdb else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((one for one in folders if (one / "initdb").exists() and (one / "postgres").exists()), None)


@contextmanager
def postgres(*settings: str) -> Iterator[str | None]:
    """The URL of a server that listens on a socket in its folder; None if PostgreSQL is not installed."""
    home = programs()
    if home is None:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="cantle-pg-"))
    who: dict[str, Any] = {"cwd": folder}
    if os.geteuid() == 0:  # the server refuses to run as root
        who["user"] = _servant()
        shutil.chown(folder, who["user"])
    make = [
        home / "initdb",
        "--no-sync",
        "--locale=C",
        "-E",
        "UTF8",
        "-A",
        "trust",
        "-U",
        "curator",
        "-D",
        folder / "data",
    ]
    subprocess.run([str(one) for one in make], check=True, capture_output=True, **who)
    options = [f"unix_socket_directories={folder}", "listen_addresses=", "max_connections=250", *settings]
    command = [home / "postgres", "-D", folder / "data", *(word for one in options for word in ("-c", one))]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen([str(one) for one in command], stdout=quiet, stderr=quiet, **who)
    try:
        yield _answering(f"postgresql:///postgres?host={folder}&user=curator")
    finally:
        server.send_signal(signal.SIGQUIT)  # an immediate shutdown, because the data is not needed any more
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _answering(url: str) -> str:
    """The URL, once the server answers."""
    import psycopg

    for _ in range(200):
        try:
            psycopg.connect(url).close()
            return url
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise RuntimeError("the PostgreSQL server did not start")


def _servant() -> str:
    import pwd

    return "postgres" if "postgres" in {one.pw_name for one in pwd.getpwall()} else "nobody"
