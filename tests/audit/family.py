"""The exact audit in tests: small tables by default, the whole family of a configuration with `-m slow`.

`cantle audit` always runs the whole family. The laws of the shipped code are kept for all tests of a process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from cantle.audit.exact import TIGHT, TOLERANCE, Audit, Config, Finding, Flaw, Mechanism


@cache
def sound(config: Mechanism[Any], enumerate_leaves: bool = False) -> Audit[Any]:
    """The audit of the shipped code, which is kept; under the patch of a flaw a new one is needed."""
    return Audit(config, enumerate_leaves)


def check(config: Config, finding: Finding, *, tight: bool) -> None:
    """Checks that both data sets have the same outcomes, and that they lose at most (if `tight`, nearly) the claim."""
    assert finding.total
    assert finding.loss <= config.units + TOLERANCE, finding
    if tight:
        assert finding.loss >= TIGHT * config.units


def check_small_tables(
    config: Config,
    used_up_later: frozenset[str] = frozenset(),
    costly: Mapping[str, int] | None = None,
    records: int | None = None,
) -> None:
    """Checks the smallest tables of the configuration; `used_up_later` names those whose claims only larger ones reach.

    `costly` limits the number of pairs that are compared: the last pair, or several from the first to the last.
    """
    pairs = list(config.pairs(config.quick if records is None else records))
    number = (costly or {}).get(config.name, len(pairs))
    chosen = [pairs[place * (len(pairs) - 1) // (number - 1)] for place in range(number)] if number > 1 else pairs[-1:]
    check(config, sound(config).worst(chosen), tight=config.tight and config.name not in used_up_later)


def check_family(config: Config) -> None:
    """Checks all tables that the configuration lists."""
    check(config, Audit(config).worst(), tight=config.tight)


def check_search(flaw: Flaw[Any], config: Config, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Checks that one of the pairs shows the flaw, and loses no more than claimed without it."""
    broken = Audit(config, flaw.enumerate_leaves)
    with flaw.patch():
        caught = next((pair for pair in pairs if broken.compare(*pair).loss > config.units + 0.5), None)
    assert caught is not None, "no pair shows the flaw"
    assert sound(config, flaw.enumerate_leaves).compare(*caught).loss <= config.units + TOLERANCE
