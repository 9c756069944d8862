"""Hostile files for every reader: python benchmarks/fuzz.py [--cases N] [--seed S] [TARGET...].

Valid tables, sets, graphs, schemas, hierarchies and releases are changed at random and then read: releases by `verify`
and `load`, the others mostly by a whole `publish`. A case is unhandled if it raises anything but one of our own errors;
if an error, a log line or a released file contains a canary that was planted in the data; if it takes more than 20
seconds of CPU, or 2 GiB more memory than the program has at the start; or if the process dies. Targets called
`neighbours, ...` make two inputs that differ by one record and read both: a case is unhandled if what was read differs
by more than that record. Every target runs in a separate process, with these limits set by the operating system.

It prints the number of cases and of unhandled ones, and ends with 1 if there are any. To repeat a case, give
`--only NUMBER`, the same seed and one target.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
SECONDS = 20
ROOM = 2 << 30
PATIENCE = 600
"""After this many seconds without a new case a process counts as hanging, if the limit on CPU did not stop it."""


class TimeUp(BaseException):
    """A case took too long. It is no Exception, so that no handler in the code under test catches it."""


def time_up(*_: Any) -> NoReturn:
    raise TimeUp


def dice_of(seed: int, name: str, case: int) -> Random:
    """The dice of a case, which are the same on every machine."""
    return Random(f"{seed} {name} {case}")


# ---- one process ----------------------------------------------------------------------------------------------------


def work(name: str, seed: int, first: int, last: int, marks: Path) -> None:
    """Runs cases and prints the unhandled ones; the file `marks` has the number of the case that is running."""
    sys.path.append(str(ROOT))
    from tests.fuzz.case import empty

    target = targets()[name]
    signal.signal(signal.SIGPROF, time_up)
    with tempfile.TemporaryDirectory() as place, marks.open("r+b", buffering=0) as mark:
        folder = Path(place)
        one_case(target, target.seeds[0], folder, Random(0))  # loads all modules
        empty(folder)
        limit_memory()
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for case in range(first, last):
            mark.seek(0)
            mark.write(b"%12d" % case)
            dice = dice_of(seed, name, case)
            problem = one_case(target, target.case(dice), folder, dice)
            empty(folder)
            now = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if problem is None and (now - largest) << 10 > 3 * ROOM // 4:
                problem = f"took {(now - largest) >> 10} MiB of memory"
            largest = max(largest, now)
            if problem is not None:
                print(json.dumps([case, problem]), flush=True)


def targets() -> dict[str, Any]:
    """All targets by name: those that change files, and those that make pairs of neighbours."""
    from tests.fuzz.neighbours import NEIGHBOURS
    from tests.fuzz.targets import TARGETS

    return TARGETS | NEIGHBOURS


def one_case(target: Any, data: bytes, folder: Path, dice: Random) -> str | None:
    from tests.fuzz.case import attempt

    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        problem: str | None = attempt(target, data, folder, dice)
        return problem
    except TimeUp:
        return f"took more than {SECONDS} seconds"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def limit_memory() -> None:
    """Limits the address space to what is in use now and ROOM bytes more (on Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        most = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


# ---- all of them ----------------------------------------------------------------------------------------------------


def fuzz(name: str, seed: int, first: int, last: int) -> list[tuple[int, str]]:
    """The unhandled cases of a target; if a process dies, another one continues after the case that killed it."""
    unhandled: list[tuple[int, str]] = []
    with tempfile.TemporaryDirectory() as place:
        marks, printed, complaints = (Path(place) / part for part in ("mark", "printed", "complaints"))
        while first < last:
            marks.write_bytes(b"%12d" % first)
            command = [sys.executable, __file__, "--work", name, str(seed), str(first), str(last), str(marks)]
            with printed.open("wb") as out, complaints.open("wb") as errors:
                child = subprocess.Popen(command, stdout=out, stderr=errors)
                why = watched(child, marks)
            lines = printed.read_text().splitlines()
            unhandled += [(case, problem) for case, problem in map(json.loads, lines)]
            if why is None:
                return unhandled
            case = int(marks.read_bytes())
            messages = complaints.read_text(errors="replace").strip().splitlines()
            unhandled.append((case, f"{why}: {messages[-1][:200] if messages else ''}"))
            first = case + 1
    return unhandled


def watched(child: subprocess.Popen[bytes], marks: Path) -> str | None:
    """Waits for a process; returns how it died, or None if it did its work."""
    last, quiet = b"", 0.0  # `quiet` counts our own waits, because a clock would go on while the machine sleeps
    while child.poll() is None:
        time.sleep(0.2)
        quiet += 0.2
        if marks.read_bytes() != last:
            last, quiet = marks.read_bytes(), 0.0
        if quiet > PATIENCE:
            child.kill()
            child.wait()
            return "hangs"
    return None if child.returncode == 0 else f"the process ended with {child.returncode}"


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], *map(int, sys.argv[3:6]), Path(sys.argv[6]))
        return
    sys.path.append(str(ROOT))
    known = targets()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all; " + ", ".join(known))
    parser.add_argument("--cases", type=int, default=1000, help="of each target (default 1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this case alone")
    options = parser.parse_args()
    first, last = (options.only, options.only + 1) if options.only is not None else (0, options.cases)
    total, unhandled = 0, 0
    for name in options.targets or known:
        began = time.monotonic()
        cases = fuzz(name, options.seed, first, last)
        total, unhandled = total + last - first, unhandled + len(cases)
        print(
            f"{name:50} {last - first:7} cases, {len(cases)} unhandled, {time.monotonic() - began:6.0f} s", flush=True
        )
        for case, problem in cases:
            print(f"  {case}: {problem}")
    print(f"all: {total} cases, {unhandled} unhandled")
    sys.exit(bool(unhandled))


if __name__ == "__main__":
    main()
