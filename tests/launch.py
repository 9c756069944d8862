"""Runs the command line, or a program after `-c`, with a random stream that is seeded by the arguments."""

from __future__ import annotations

import sys
from pathlib import Path


def launch(name: str, *arguments: str) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.entropy import drawn_from

    del sys.path[0]
    with drawn_from(" ".join([name, *arguments])):
        if arguments[:1] == ("-c",):
            sys.argv = ["-c", *arguments[2:]]
            exec(arguments[1], {"__name__": "__main__"})
        else:
            from cantle.interfaces.cli import main

            sys.argv = ["cantle", *arguments]
            main()


if __name__ == "__main__":
    launch(*sys.argv[1:])
