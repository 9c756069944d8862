"""The two forms of the exact audit in tests: small tables by default, the whole family of a configuration by `-m slow`.

`cantle audit` always runs the whole family.
"""

from __future__ import annotations

from cantle.audit.exact import TIGHT, TOLERANCE, Audit, Config, Finding


def check(config: Config, found: Finding, *, tight: bool) -> None:
    """Both sides have the same outcomes, none loses more than is claimed, and the claim is used up where `tight`."""
    assert found.total
    assert found.loss <= config.units + TOLERANCE, found
    if tight:
        assert found.loss >= TIGHT * config.units


def check_small_tables(
    config: Config, used_up_later: frozenset[str] = frozenset(), costly: frozenset[str] = frozenset()
) -> None:
    """The smallest tables of the configuration; claims of the named configurations are used up by larger ones only.

    Of a costly one the first and the last pair of these tables are compared.
    """
    pairs = list(config.pairs(config.quick))
    found = Audit(config).worst([pairs[0], pairs[-1]] if config.name in costly else pairs)
    check(config, found, tight=config.tight and config.name not in used_up_later)


def check_family(config: Config) -> None:
    """All tables that the configuration lists."""
    check(config, Audit(config).worst(), tight=config.tight)
