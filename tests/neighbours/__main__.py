"""Tests all pairs of neighbours and counts them: python -m tests.neighbours [--times N] [--seed S] [--no-spark].

It prints a line per form with the number of pairs and of those that break the law, then the number of pairs per reader
and per engine. The exit code is 1 if any pair breaks the law.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.neighbours.forms import all_forms, totals
from tests.neighbours.law import SEED, breaches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1, help="as many pairs as by default, times this")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--no-spark", action="store_true")
    given, broken = parser.parse_args(), 0
    with all_forms(spark=not given.no_spark) as forms:
        for form in forms:
            began, cases = time.process_time(), form.cases * given.times
            problems = list(breaches(form, 0, cases, given.seed))
            broken += len(problems)
            spent = time.process_time() - began
            print(
                f"{form!s:55} {cases * form.batch:7} pairs, {len(problems)} break the law, {spent:6.1f} s", flush=True
            )
            for one in problems[:3]:
                print(f"  {one}")
        for title, counts in zip(("reader", "engine"), totals(forms, given.times), strict=True):
            print(f"\n{title:55} {'pairs':>7}")
            for name, pairs in counts.items():
                print(f"{name:55} {pairs:7}")
    print(f"\nall: {sum(form.cases * form.batch for form in forms) * given.times} pairs, {broken} break the law")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
