"""The command line: it reads options, calls the library and prints results, and makes no privacy decision itself."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs a command (see `app`); Ctrl-C while its modules are loaded ends it without a traceback."""
    try:
        from cantle.interfaces.cli.app import main as run
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
    run()
