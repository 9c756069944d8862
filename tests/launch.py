"""The command line, or a program after `-c`, in a process whose random words follow from the first argument."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.entropy import drawn_from  # noqa: E402

del sys.path[0]
_, name, *arguments = sys.argv
with drawn_from(" ".join([name, *arguments])):
    if arguments[:1] == ["-c"]:
        sys.argv = ["-c", *arguments[2:]]
        exec(arguments[1], {"__name__": "__main__"})
    else:
        from cantle.cli import main

        sys.argv = ["cantle", *arguments]
        main()
