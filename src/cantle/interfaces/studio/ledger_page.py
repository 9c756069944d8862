"""Step 7, Ledger: what each data set has spent, charge by charge, and its cap. Other pages show their own account."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from cantle.errors import CantleError
from cantle.interfaces.studio.pages import Visit, page
from cantle.interfaces.studio.project import Project
from cantle.interfaces.studio.studio import Studio
from cantle.release.report.charts import Svg, steps
from cantle.trusted.core.budget import NANO, words_of
from cantle.trusted.ledger import Account, Ledger


@dataclass(frozen=True)
class Standing:
    """The account of the data set, or the reason why it cannot be shown."""

    account: Account | None = None
    problem: str = ""
    missing: bool = False
    """Whether there is no ledger yet, or the ledger does not have the data set."""

    @property
    def spent(self) -> str:
        return "0" if self.account is None else words_of(self.account.spent_nano)

    @property
    def cap(self) -> str:
        return "" if self.account is None or self.account.cap_nano is None else words_of(self.account.cap_nano)

    @property
    def left(self) -> str:
        return "" if self.account is None or self.account.left_nano is None else words_of(self.account.left_nano)

    @property
    def charges(self) -> int:
        return 0 if self.account is None else len(self.account.entries)


def standing(project: Project) -> Standing:
    """The account of the project's data set, as it is now."""
    settings = project.settings
    if not settings.ledger or not settings.dataset:
        return Standing(missing=True)
    if "://" not in settings.ledger and not Path(project.ledger()).exists():
        return Standing(missing=True)
    try:
        known = {one.dataset: one for one in Ledger(project.ledger()).accounts()}
    except CantleError as error:
        return Standing(problem=str(error))
    account = known.get(settings.dataset)
    return Standing(account, missing=account is None)


def stair(account: Account) -> Svg:
    """What a data set has spent, as a stair up to its cap."""
    spent, total = [], 0
    for entry in account.entries:
        total += entry.epsilon_nano
        spent.append(total / NANO)
    cap = None if account.cap_nano is None else account.cap_nano / NANO
    bound = "no cap is set" if account.cap_nano is None else f"the cap is {words_of(account.cap_nano)}"
    words = f"Spending of {account.dataset} after each of {len(spent)} charges: epsilon {words_of(total)}; {bound}."
    return steps(spent, cap, words)


def show(studio: Studio, visit: Visit) -> Response:
    """The page."""
    settings, accounts, error = studio.settings, [], ""
    where = studio.project.ledger()
    if where and ("://" in where or Path(where).exists()):
        try:
            accounts = Ledger(where).accounts()
        except CantleError as problem:
            error = str(problem)
    named = ["--ledger", settings.ledger or "ledger.db"]
    history = [["ledger", "history", *named, "--dataset", settings.dataset]] if settings.dataset else []
    return page(
        studio,
        "ledger",
        "ledger",
        visit,
        error,
        commands=[["ledger", "show", *named], *history],
        where=settings.ledger,
        accounts=[_shown(one) for one in sorted(accounts, key=lambda one: one.dataset != settings.dataset)],
    )


def _shown(account: Account) -> dict[str, object]:
    total, rows = 0, []
    for entry in account.entries:
        total += entry.epsilon_nano
        outcome = entry.sha256[:16] if entry.sha256 else entry.state
        rows.append((entry.sequence, entry.time, entry.method, words_of(entry.epsilon_nano), words_of(total), outcome))
    caps = [(time, words_of(nano)) for time, nano in account.caps]
    return account.to_dict() | {"rows": rows, "caps": caps, "chart": stair(account) if rows or caps else None}
