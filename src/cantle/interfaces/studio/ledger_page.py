"""Step 7, Ledger: what each data set has spent, charge by charge, and its cap."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from cantle.errors import CantleError
from cantle.interfaces.studio.accounts import stair
from cantle.interfaces.studio.pages import page
from cantle.interfaces.studio.studio import Studio
from cantle.interfaces.studio.visits import Visit
from cantle.trusted.core.budget import words_of
from cantle.trusted.ledger import Account, Ledger


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
        done=visit.done,
        error=error,
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
