"""Every deliberate flaw is caught on its pair of data sets, on which the shipped code passes."""

from __future__ import annotations

import pytest

from cantle import audit
from cantle.audit import audit_breakage, run_audits
from cantle.audit.exact import TOLERANCE, Breakage
from cantle_lab.mutants import BREAKAGES, INSTANCES
from cantle_lab.mutants.diffgen import DIFFGEN_BREAKAGES
from cantle_lab.mutants.rps import RPS_BREAKAGES
from tests.effort import one_in


@pytest.mark.parametrize("breakage", [*RPS_BREAKAGES, *DIFFGEN_BREAKAGES], ids=lambda breakage: breakage.name)
def test_flaws_are_caught(breakage: Breakage) -> None:
    check_flaw(breakage)


def check_flaw(breakage: Breakage) -> None:
    """Checks that the flaw is caught; the next test checks that its pair passes without the flaw."""
    claimed = breakage.config.units
    broken = breakage.find(broken=True)
    assert broken.loss > claimed + TOLERANCE
    assert broken.loss >= breakage.least - TOLERANCE


@pytest.mark.parametrize("breakage", one_in(8, BREAKAGES), ids=lambda breakage: breakage.name)
def test_the_pairs_of_flaws_pass_without_them(breakage: Breakage) -> None:
    """All small tables pass in the audits of their configurations, too."""
    assert breakage.find(broken=False).loss <= breakage.config.units + TOLERANCE


def test_a_harmless_flaw_is_not_reported_as_caught() -> None:
    flaw = next(breakage for breakage in BREAKAGES if breakage.name == "selection weight doubled")
    harmless = Breakage("nothing", "", flaw.config, flaw.before, flaw.joins, flaw.least, lambda: _Nothing())
    assert not audit_breakage(harmless).ok


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_one_audit_of_each_kind_runs_in_the_quick_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """`run_audits` reports on everything it is given; the other tests run each audit by itself."""
    tables = [name for name in vars(audit) if name.endswith("CONFIGS")]
    for name in tables:
        number = name != "JOURNEY_CONFIGS"  # this one takes seconds, and has a test of its own
        monkeypatch.setattr(audit, name, getattr(audit, name)[:number])
    lines: list[str] = []
    rows = run_audits(lines.append, quick=True, instances={"I1": INSTANCES["I1"]}, breakages=BREAKAGES[:1])
    assert len(lines) == len(tables) + 1 > 5
    assert [row for row in rows if not row.ok] == []
    assert {row.kind for row in rows} == {"exact", "instance", "breakage"}


@pytest.mark.slow
def test_all_audits_run_in_the_quick_form() -> None:
    lines: list[str] = []
    rows = run_audits(lines.append, quick=True, instances=INSTANCES, breakages=BREAKAGES)
    assert [row for row in rows if not row.ok] == []
    assert {row.kind for row in rows} == {"exact", "instance", "breakage"}
    assert len(lines) > 50
