"""Worker processes that faults.py races and kills: python benchmarks/workers.py KIND ARGUMENT...

Each worker loads all modules that it needs, prints `ready`, and begins when it is sent a line.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

NAME = "raced"
WHAT = {"unit": "one record", "method": "none", "parameters": {}, "guarantee": "pure", "software": "-"}


def ready() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def charge(where: str, nano: str) -> None:
    """Makes one charge, or is refused."""
    from cantle.errors import CapExceeded
    from cantle.trusted.ledger import Ledger

    ledger = Ledger(where)
    ready()
    try:
        print("charged", ledger.charge(NAME, epsilon_nano=int(nano), **WHAT).line["sequence"])
    except CapExceeded:
        print("refused")


def charges(where: str) -> None:
    """Makes charges until it is killed; prints the number of each as soon as it is granted."""
    from cantle.trusted.ledger import Ledger

    ledger = Ledger(where)
    ready()
    while True:
        print(ledger.charge(NAME, epsilon_nano=1, **WHAT).line["sequence"], flush=True)


def publish(where: str, epsilon: str, out: str, limit: str = "0", dies_at: str = "0") -> None:
    """Publishes and saves; a file `OUT.opened` marks that the data was opened.

    `limit` is the largest size of a file in bytes; before file operation number `dies_at` the process kills itself.
    """
    import cantle
    from cantle.errors import CantleError

    with tempfile.TemporaryDirectory() as folder:  # a first run loads all modules that are imported late
        cantle.publish("people.csv", "schema.json", epsilon=1, method="rps").save(Path(folder) / "first")
    touches = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal touches
        if event == "open" and str(arguments[0]).endswith("people.csv"):
            os.close(os.open(f"{out}.opened", os.O_CREAT | os.O_WRONLY))
        if event.split(".")[0] in ("open", "os", "sqlite3", "shutil", "tempfile") and "opened" not in str(arguments):
            touches += 1
            if touches == int(dies_at):
                os.kill(os.getpid(), signal.SIGKILL)

    ready()
    sys.addaudithook(hook)
    if int(limit):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        cantle.Ledger(where).create()
        release = cantle.publish("people.csv", "schema.json", epsilon=epsilon, ledger=where, dataset=NAME, method="rps")
        release.save(out)
        print("published", flush=True)
    except CantleError as error:
        print(f"{type(error).__name__}: {error}")
        sys.exit(1)


if __name__ == "__main__":
    {"charge": charge, "charges": charges, "publish": publish}[sys.argv[1]](*sys.argv[2:])
