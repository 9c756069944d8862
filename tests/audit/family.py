"""The two forms of the exact audit in tests: small tables by default, the whole family of a configuration by `-m slow`.

`cantle audit` always runs the whole family. The laws of the sound code are kept for all tests of a process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from cantle.audit.exact import TIGHT, TOLERANCE, Audit, Config, Finding, Flaw, Mechanism


@cache
def sound(config: Mechanism[Any], enumerate_leaves: bool = False) -> Audit[Any]:
    """The audit of the shipped code; inside the patch of a flaw a fresh one is needed."""
    return Audit(config, enumerate_leaves)


def check(config: Config, found: Finding, *, tight: bool) -> None:
    """Both sides have the same outcomes, none loses more than is claimed, and the claim is used up where `tight`."""
    assert found.total
    assert found.loss <= config.units + TOLERANCE, found
    if tight:
        assert found.loss >= TIGHT * config.units


def check_small_tables(
    config: Config,
    used_up_later: frozenset[str] = frozenset(),
    costly: Mapping[str, int] | None = None,
    records: int | None = None,
) -> None:
    """The smallest tables of the configuration; claims of the named configurations are used up by larger ones only.

    Of a costly one so many pairs of these tables are compared: the last one, or some from the first to the last.
    """
    pairs = list(config.pairs(config.quick if records is None else records))
    few = (costly or {}).get(config.name, len(pairs))
    chosen = [pairs[place * (len(pairs) - 1) // (few - 1)] for place in range(few)] if few > 1 else pairs[-1:]
    check(config, sound(config).worst(chosen), tight=config.tight and config.name not in used_up_later)


def check_family(config: Config) -> None:
    """All tables that the configuration lists."""
    check(config, Audit(config).worst(), tight=config.tight)


def check_search(flaw: Flaw[Any], config: Config, pairs: Iterable[tuple[Any, Any]]) -> None:
    """One of the pairs shows the flaw, and does not without it."""
    broken = Audit(config, flaw.enumerate_leaves)
    with flaw.patch():
        found = next((pair for pair in pairs if broken.compare(*pair).loss > config.units + 0.5), None)
    assert found is not None, "no pair shows the flaw"
    assert sound(config, flaw.enumerate_leaves).compare(*found).loss <= config.units + TOLERANCE
