"""The server: a socket on 127.0.0.1 alone, no log of requests, and an address that the browser is sent to."""

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
from cantle.studio.app import make_app
from cantle.studio.keys import Keys
from cantle.studio.private_folder import PrivateFolder
from cantle.studio.studio import Studio

ADDRESS = "127.0.0.1"


def serve(folder: Path, port: int, *, browser: bool, say: Callable[[str], None]) -> None:
    """Runs a studio until it is ended; `say` gets the address to open, and at the end what became of a stopped job."""
    with _bound(port) as listener:
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


def _bound(port: int) -> socket.socket:
    """A socket on this machine only; port 0 is any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((ADDRESS, port))
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
    """Sends the browser to the address by way of a private file: arguments of a process are seen by other users."""
    way = private.new("open.html")
    target = html.escape(address, quote=True)
    way.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0;url={target}"><a href="{target}">cantle studio</a>',
        encoding="utf-8",
    )
    with suppress(webbrowser.Error):
        webbrowser.open(way.as_uri())
