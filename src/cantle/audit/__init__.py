"""Audits that run the shipped code: exact distributions on tiny tables, known instances, deliberate breakages.

`run_audits` runs all three and returns one row per result:

* An exact row passes if no pair of tables can be distinguished better than claimed. If its configuration is marked
  tight, some pair must also use up the claim.
* An instance row passes if the measured number equals the one computed by hand.
* A breakage row passes if the audit catches the flaw, and accepts the sound code on the same pair.

Passing proves nothing about larger data: the claims rest on their proofs (docs/privacy.md).

The package is a function too: `cantle.audit(QuadTree())` audits somebody's own partitioning (`partitionings`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from cantle.audit.degrees import DEGREE_CONFIGS, Drawing
from cantle.audit.diffgen import DIFFGEN_CONFIGS
from cantle.audit.exact import TIGHT, TOLERANCE, Audit, Data, Flaw, Mechanism, Table
from cantle.audit.families import FAMILY_CONFIGS
from cantle.audit.mosaic import MOSAIC_CONFIGS
from cantle.audit.own_error import OWN_ERROR_CONFIGS
from cantle.audit.rps import CONFIGS
from cantle.audit.sets import BASKET_CONFIGS, DIFFPART_CONFIGS, JOURNEY_CONFIGS


class _Audit(ModuleType):
    """This package, which can be called. `cantle.audit` is the package as soon as anything imports it, so a function of
    this name would depend on the order of imports."""

    def __call__(self, partitioning: Any, **given: Any) -> Row:
        row: Row = import_module(f"{__name__}.partitionings").audit(partitioning, **given)
        return row


import_module(__name__).__class__ = _Audit

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """The result of one audit.

    Losses are in units of ln 2, except that closed forms use natural units and a `FineBreakage` units of ln 1.1. For a
    breakage, `claimed` is what the sound code promises, and `ok` means that the measured loss exceeds it.
    """

    kind: str
    name: str
    claimed: float
    measured: float
    ok: bool
    note: str = ""


@dataclass(frozen=True)
class Number:
    """A number computed by hand (`claimed`) beside the measured one; `within` is how far apart the two may be.

    By default that is half a unit of the seventh decimal, to which the numbers are printed.
    """

    what: str
    claimed: float
    measured: float
    within: float = 5.1e-8

    @property
    def ok(self) -> bool:
        return self.claimed == self.measured or abs(self.claimed - self.measured) <= self.within


Instances = Mapping[str, Callable[[], Sequence[Number]]]


def run_audits(
    progress: Progress | None = None,
    *,
    quick: bool = False,
    instances: Instances | None = None,
    breakages: Iterable[Flaw[Table] | Flaw[Drawing]] = (),
) -> list[Row]:
    """The rows of all audits: exact ones of every configuration, then the given instances and breakages.

    `progress` is called with the name of each audit before it runs. `quick` audits only small inputs
    (`Mechanism.quick`: tables of none or one record, graphs of up to three nodes) and does not check tightness.
    Instances and breakages come from cantle_lab.mutants.
    """
    report = progress or (lambda _text: None)
    rows: list[Row] = []
    tables = (
        *CONFIGS,
        *DIFFGEN_CONFIGS,
        *MOSAIC_CONFIGS,
        *DIFFPART_CONFIGS,
        *BASKET_CONFIGS,
        *JOURNEY_CONFIGS,
        *OWN_ERROR_CONFIGS,
        *FAMILY_CONFIGS,
    )
    configs: tuple[Mechanism[Any], ...] = (*tables, *DEGREE_CONFIGS)
    for config in configs:
        report(f"exact: {config.name}")
        rows.append(audit_exactly(config, quick=quick))
    for name, numbers in (instances or {}).items():
        report(f"instance {name}")
        rows += audit_instance(name, numbers())
    for breakage in breakages:
        report(f"broken on purpose: {breakage.name}")
        rows.append(audit_breakage(breakage))
    return rows


def audit_exactly(config: Mechanism[Data], *, quick: bool = False) -> Row:
    """The worst loss of one configuration over all small tables and their neighbours.

    The row passes if both tables of every pair can show the same outputs, if no loss exceeds the claim, and if the
    claim is used up where the configuration is marked tight.
    """
    audit = Audit(config)
    worst = audit.worst(config.pairs(config.quick) if quick else None)
    tight = worst.loss >= TIGHT * config.units
    ok = worst.total and worst.loss <= config.units + TOLERANCE and (quick or tight or not config.tight)
    return Row("exact", config.name, config.units, worst.loss, ok, "tight" if tight else "")


def audit_instance(name: str, numbers: Sequence[Number]) -> list[Row]:
    """One row for each number of an instance."""
    return [Row("instance", f"{name}: {n.what}", n.claimed, n.measured, n.ok) for n in numbers]


def audit_breakage(breakage: Flaw[Table] | Flaw[Drawing]) -> Row:
    """Whether the audit catches the flaw on its pair of tables, and accepts the sound code on the same pair."""
    claimed = breakage.config.units
    sound, broken = breakage.find(broken=False), breakage.find(broken=True)
    ok = sound.loss <= claimed + TOLERANCE < breakage.least - TOLERANCE <= broken.loss
    return Row("breakage", breakage.name, claimed, broken.loss, ok, f"{breakage.breaks}; sound {sound.loss:.6f}")
