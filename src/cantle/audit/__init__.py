"""Audits that run the shipped code: exact laws on tiny tables, known instances, deliberate breakages.

`run_audits` does all three. An exact row passes if no pair of tables can be distinguished better than claimed (and, if
marked tight, some pair uses up the claim); an instance row if the measured number is the one computed by hand; a
breakage row if the audit catches the flaw and lets the sound code pass on the same pair.

Passing proves nothing about larger data: the claims rest on their proofs (docs/privacy.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cantle.audit.baskets import BASKET_CONFIGS
from cantle.audit.degrees import DEGREE_CONFIGS, Drawing
from cantle.audit.diffgen import DIFFGEN_CONFIGS
from cantle.audit.diffpart import DIFFPART_CONFIGS
from cantle.audit.exact import TIGHT, TOLERANCE, Audit, Data, Flaw, Mechanism, Table
from cantle.audit.mosaic import MOSAIC_CONFIGS
from cantle.audit.own_error import OWN_ERROR_CONFIGS
from cantle.audit.rps import CONFIGS

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """One result. Losses are in units of ln 2 (closed forms: natural; a `FineBreakage`: ln 1.1); the claim of a
    breakage is what the sound code promises, and `ok` means that the measured loss exceeds it."""

    kind: str
    name: str
    claimed: float
    measured: float
    ok: bool
    note: str = ""


@dataclass(frozen=True)
class Number:
    """A number worked out by hand and what was measured; `within` is half its last printed digit."""

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
    """All audits; `quick` takes tables of at most one record (DiffGen, DiffPart: none), graphs of at most three
    nodes, and judges no tightness. Instances and breakages come from cantle.lab.mutants."""
    report = progress or (lambda _text: None)
    rows: list[Row] = []
    tables = (*CONFIGS, *DIFFGEN_CONFIGS, *MOSAIC_CONFIGS, *DIFFPART_CONFIGS, *BASKET_CONFIGS, *OWN_ERROR_CONFIGS)
    rows += _exact_rows(tables, report, quick=quick)
    rows += _exact_rows(DEGREE_CONFIGS, report, quick=quick)
    for name, numbers in (instances or {}).items():
        report(f"instance {name}")
        rows += audit_instance(name, numbers())
    for breakage in breakages:
        report(f"broken on purpose: {breakage.name}")
        rows.append(audit_breakage(breakage))
    return rows


def _exact_rows(configs: Iterable[Mechanism[Data]], report: Progress, *, quick: bool) -> Iterator[Row]:
    for config in configs:
        report(f"exact: {config.name}")
        yield audit_exactly(config, quick=quick)


def audit_exactly(config: Mechanism[Data], *, quick: bool = False) -> Row:
    """Worst loss over all small tables and their neighbours: equal supports, claim kept, tight where marked."""
    audit = Audit(config)
    found = audit.worst(config.pairs(config.quick) if quick else None)
    tight = found.loss >= TIGHT * config.units
    ok = found.total and found.loss <= config.units + TOLERANCE and (quick or tight or not config.tight)
    return Row("exact", config.name, config.units, found.loss, ok, "tight" if tight else "")


def audit_instance(name: str, numbers: Sequence[Number]) -> list[Row]:
    """One row for each number of an instance."""
    return [Row("instance", f"{name}: {n.what}", n.claimed, n.measured, n.ok) for n in numbers]


def audit_breakage(breakage: Flaw[Table] | Flaw[Drawing]) -> Row:
    """Whether the audit catches the flaw on its pair and lets the sound code pass."""
    claimed = breakage.config.units
    sound, broken = breakage.find(broken=False), breakage.find(broken=True)
    ok = sound.loss <= claimed + TOLERANCE < breakage.least - TOLERANCE <= broken.loss
    return Row("breakage", breakage.name, claimed, broken.loss, ok, f"{breakage.breaks}; sound {sound.loss:.6f}")
