#!/usr/bin/env python3
"""Known ways to break ring 1 of the trusted base, each of which some quick test must notice: `nox -s mutants`.

scripts/mutants.py                # all of them, one after the other: each changes one place in a copy of the package
scripts/mutants.py budget noise   # those of files whose names contain one of these words

A mutant that survives is a missing test. The lab's breakages (cantle_lab.mutants) are caught by the exact audit; these
are caught by unit tests and laws, in the files named beside them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 600
"""Seconds after which the tests of a mutant are stopped: then it does not pass them."""

BUDGET = ("tests/trusted/test_budget.py", "tests/laws/test_budget.py")
CURATOR = ("tests/trusted/test_curator.py", "tests/laws/test_hostile.py", "tests/laws/test_budget.py")
TABLES = ("tests/laws/test_hostile_tables.py",)
STOP = ("tests/trusted/test_stop_test.py", "tests/laws/test_hostile.py")
NOISE = ("tests/trusted/noise", "tests/statistical")
PERSONS = ("tests/trusted/test_persons.py",)
OWN = ("tests/trusted/test_own_error.py",)
SETS = ("tests/trusted/test_set_queries.py",)
RELEASE = ("tests/interfaces/test_publishing.py",)
LISTS = ("tests/laws/test_list_queries.py",)
PARTITION = ("tests/laws/test_partition.py",)

BALANCE = "self._balance = np.concatenate([self._balance, self._balance[children]])"
ALL_BALANCE = "self._balance = np.concatenate([self._balance, np.full(len(children), self.total)])"
OPEN = "self._open[:] = False\n        self._split[parents]"
MEASURED = 'run.charge(ours, cost, why, "measure", sensitivity)\n        '
RESERVED = 'run.charge(ours, cost, why, "reserve", run.unit.max_records)'
SECURE = "return Secure() if order.insecure_seed is None else Seeded(order.insecure_seed)"
RHO = "rho = quality.range * run.unit.max_records * candidates.margin"
ADDED = "return known and all(map(_is_plain, vars(thing).values()))"
REJECTED = "largest = last - (last % modulus + np.uint64(1)) % modulus"
CUT = "return np.clip(noisy, -MOST_VALUE, MOST_VALUE, out=noisy)"
COUNTS = 'np.clip(counts.astype(np.int64, casting="same_kind"), -MOST_VALUE, MOST_VALUE)'
CELLS = "return words if lanes.cells is None else scramble((words + state) ^ lanes.cells.astype(np.uint64))"

MUTANTS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    # core/budget: every region pays, children inherit what is left, and only the newest regions are open
    ("core/budget", "short = cost > self._balance[ids]", "short = cost[:1] > self._balance[ids[:1]]", BUDGET),
    ("core/budget", "short = cost > self._balance[ids]", "short = cost > self._balance[ids] + 1", BUDGET),
    ("core/budget", "self._balance[ids] -= cost", "self._balance[ids[:1]] -= cost[:1]", BUDGET),
    ("core/budget", BALANCE, ALL_BALANCE, BUDGET),
    ("core/budget", OPEN, "self._open[parents] = False\n        self._split[parents]", BUDGET),
    ("core/budget", "if not self._open[ids].all():", "if not self._open[ids].any():", BUDGET),
    ("core/budget", "exact.numerator * NANO //", "-(-exact.numerator) * NANO + exact.denominator - 1 //", BUDGET),
    # core/curator: every question is charged, at the range or sensitivity that its noise is for
    ("core/curator", RHO, RHO.replace(" * run.unit.max_records", ""), CURATOR),
    ("core/curator", MEASURED + "value", "value", CURATOR),
    ("core/curator", MEASURED + "exact_occupied", "exact_occupied", (*CURATOR, *SETS)),
    ("core/curator", RESERVED, "pass", OWN),
    ("core/curator", "reserved, run.reserved = run.reserved, 0", "reserved = run.reserved", OWN),
    ("core/curator", "stop.cost(tests + 1, records) -", "stop.cost(tests + 1, 1) -", STOP),
    # core/open_run: draws are never repeated, children go on with their parents' tests, closed regions stay closed
    ("core/open_run", "self.draws.number += 1", "pass", CURATOR),
    ("core/open_run", "self.tested.split(positions, times)", "self.tested.__init__()", (*STOP, *CURATOR)),
    ("core/open_run", "self.budget.require_open(ids)", "pass", CURATOR),
    ("core/open_run", "self.unit = rule.unit(self.unit)", "pass", ("tests/audit/test_audit_degrees.py", *CURATOR)),
    # core/stop_test
    ("core/stop_test", "self._ended[positions] = ~goes_on", "pass", STOP),
    ("core/stop_test", "self._tests[positions] += 1", "pass", STOP),
    ("core/stop_test", "np.maximum(self.theta - self.delta, exact_counts - tests * self.delta)",
     "exact_counts - tests * self.delta", STOP),
    ("core/stop_test", "+ _SLACK) * records * NANO", "+ _SLACK) * NANO", STOP),
    # core/draws
    ("core/draws", "Rate(np.repeat(cost, cells), sensitivity * NANO)", "Rate(np.repeat(cost, cells), NANO)", CURATOR),
    ("core/draws", "Rate(stop.epsilon_nano, records * NANO)", "Rate(stop.epsilon_nano, NANO)", STOP),
    # core/admission
    ("core/admission", ADDED, "return all(map(_is_plain, vars(thing).values()))", CURATOR),
    ("core/admission", "if question.everyone and (len(nodes) != 1 or nodes.depth):", "if False:", (*TABLES, *CURATOR)),
    ("core/admission", "quality = cast(Judge, replace(cast(Any, quality)))", "pass", CURATOR),
    # choices in parts at their range, which are counted anew; cuts that leave no code to a child
    ("claims/table_candidates", "return max(key.parts for key in self.keys)", "return 1", LISTS),
    ("claims/list_queries", "return counted(engine, self, self.tables)",
     "return engine.kept(self, lambda: counted(engine, self, self.tables))", LISTS),
    ("geometry/boxes", "part = (self.left > 0) & (self.left < whole)", "part = (self.left > 0)", PARTITION),
    # noise: the laws of draws, fair dice, words that are used once
    ("noise/samplers", REJECTED, "largest = last", NOISE),
    ("noise/samplers", "np.where(words & np.uint64(1), sizes, -sizes)", "sizes", NOISE),
    ("noise/samplers", CUT, "return noisy", NOISE),
    ("noise/samplers", COUNTS, "counts.astype(np.int64)", NOISE),
    ("noise/samplers", "(use << 32 for use in range(5))", "(0 for use in range(5))", NOISE),
    ("noise/sources", "np.frombuffer(os.urandom(8 * len(lanes)), dtype=np.uint64).copy()",
     "np.zeros(len(lanes), dtype=np.uint64)", NOISE),
    ("noise/sources", CELLS, "return words", NOISE),
    # bounding, and the line of publishing that takes the noise of the operating system
    ("bounding/persons", "- first < max_records)", "- first <= max_records)", PERSONS),
    ("bounding/persons", " & (sorted_person >= 0)", "", PERSONS),
    ("../interfaces/publishing", SECURE, "return Seeded(order.insecure_seed or 0)", RELEASE),
)  # fmt: skip


def survives(number: int, folder: Path) -> bool:
    """Whether the tests of a mutant pass on a copy of the package in this folder."""
    name, old, new, tests = MUTANTS[number]
    path = (folder / "cantle" / "trusted" / f"{name}.py").resolve()
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"mutant {number} fits {text.count(old)} places of {name}.py; write it anew: {old}")
    path.write_text(text.replace(old, new), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    about = os.environ | {"PYTHONPATH": str(folder)}
    try:
        done = subprocess.run(command, cwd=ROOT, env=about, capture_output=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired:  # broken dice may be thrown for ever
        return False
    finally:
        path.write_text(text, encoding="utf-8")
    return done.returncode == 0


def main(words: list[str]) -> int:
    chosen = [i for i, one in enumerate(MUTANTS) if not words or any(word in one[0] for word in words)]
    alive = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(ROOT / "src" / "cantle", folder / "cantle", ignore=shutil.ignore_patterns("__pycache__"))
        for number in chosen:
            name, old, new, _ = MUTANTS[number]
            lives = survives(number, folder)
            alive += lives
            print(f"{'SURVIVES' if lives else 'dead    '} {number:2} {name}: {' '.join(new.split())[:90]}", flush=True)
    print(f"{len(chosen)} mutants, {alive} survive")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
