"""The server of the studio: it listens on 127.0.0.1 only, keeps no log of requests, and opens the browser."""

from __future__ import annotations

import html
import logging
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from cantle.errors import ParameterError, raise_alone
from cantle.interfaces.studio.app import make_app
from cantle.interfaces.studio.keys import Keys
from cantle.interfaces.studio.private_folder import PrivateFolder
from cantle.interfaces.studio.studio import Studio

ADDRESS = "127.0.0.1"


def serve(folder: Path, port: int, *, browser: bool, say: Callable[[str], None]) -> None:
    """Runs a studio until it is ended.

    `say` is called with the address to open, and at the end with a sentence about a job that was stopped.
    """
    with _listening(port) as listener:
        port = listener.getsockname()[1]
        keys, studio = Keys(port), Studio(folder, PrivateFolder())
        address = f"http://{ADDRESS}:{port}/?token={keys.token}"
        try:
            say(address)
            if browser:
                _open(address, studio.private)
            server = uvicorn.Server(_config(make_app(studio, keys, port)))
            server.run(sockets=[listener])
        finally:
            for words in studio.close():
                say(words)


def _listening(port: int) -> socket.socket:
    """A socket that listens on 127.0.0.1; port 0 means any free port.

    It listens before the address is shown, so that a browser that is quicker than the server waits for it.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError:
        listener.close()
        raise_alone(ParameterError(f"port {port} is in use or not allowed; leave --port out to take any that is free"))
    return listener


def _config(app: object) -> uvicorn.Config:
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL + 1)  # tracebacks may quote a record
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        timeout_graceful_shutdown=2,
    )


def _open(address: str, private: PrivateFolder) -> None:
    """Opens the address in the browser through a private file: other users can see the arguments of a process."""
    way = private.new("open.html")
    target = html.escape(address, quote=True)
    way.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0;url={target}"><a href="{target}">cantle studio</a>',
        encoding="utf-8",
        newline="\n",
    )
    with suppress(webbrowser.Error):
        webbrowser.open(way.as_uri())
