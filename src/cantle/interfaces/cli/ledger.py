"""The commands `cantle ledger create`, `show`, `cap` and `history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cantle.interfaces.cli.config import needed
from cantle.interfaces.cli.output import Json, print_result, table

if TYPE_CHECKING:
    from cantle.trusted.ledger import Account

ledger_app = typer.Typer(
    help="Keep account of what each data set has spent, across releases.", no_args_is_help=True, rich_markup_mode=None
)

Where = Annotated[str | None, typer.Option("--ledger", metavar="FILE", help="A SQLite file or a postgresql:// URL.")]
Name = Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="The data set's name in the ledger.")]
AnyName = Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="Default: all data sets.")]

_SHOWN = ("data set", "unit", "cap", "spent", "left", "releases", "charges without release")


@ledger_app.command("create")
def create_command(ledger: Where = None, as_json: Json = False) -> None:
    """Make a ledger without caps. An existing ledger stays as it is. `publish` charges only existing ledgers.

    Example: cantle ledger create --ledger ledger.db
    """
    from cantle.trusted.ledger import Ledger

    Ledger(_path(ledger)).create()
    print_result(as_json, {"ledger": "ready"}, lambda: print("the ledger is ready"))


@ledger_app.command("show")
def show_command(ledger: Where = None, dataset: AnyName = None, as_json: Json = False) -> None:
    """Show what data sets have spent, and what is left of their caps.

    A run that was stopped leaves a charge without a release.

    Example: cantle ledger show --ledger ledger.db
    """
    from cantle.trusted.ledger import Ledger

    book = Ledger(_path(ledger))
    accounts = book.accounts() if dataset is None else [book.account(dataset)]
    rows = [_row(account) for account in accounts]
    print_result(as_json, {"datasets": [account.to_dict() for account in accounts]}, lambda: table("", _SHOWN, rows))


@ledger_app.command("cap")
def cap_command(
    epsilon: Annotated[str, typer.Argument(metavar="N", help="The largest total epsilon of the data set.")],
    ledger: Where = None,
    dataset: Name = None,
    as_json: Json = False,
) -> None:
    """Set the largest total epsilon that a data set may ever spend. Makes the ledger if it does not exist.

    Example: cantle ledger cap 3 --ledger ledger.db --dataset patients
    """
    from cantle.trusted.ledger import Ledger

    account = Ledger(_path(ledger)).cap(_name(dataset), epsilon)
    print_result(as_json, account.to_dict(), lambda: table("", _SHOWN, [_row(account)]))


@ledger_app.command("history")
def history_command(ledger: Where = None, dataset: Name = None, as_json: Json = False) -> None:
    """List the charges to a data set, and its caps.

    It says for every charge what became of it.

    Example: cantle ledger history --ledger ledger.db --dataset patients
    """
    from cantle.trusted.core.budget import words_of
    from cantle.trusted.ledger import Ledger

    account = Ledger(_path(ledger)).account(_name(dataset))
    caps = [{"time": time, "cap": words_of(nano), "cap_nano": nano} for time, nano in account.caps]

    def show() -> None:
        rows = [
            (str(e.sequence), e.time, e.method, words_of(e.epsilon_nano), (e.sha256 or e.state)[:28])
            for e in account.entries
        ]
        table("", ("release", "charged (UTC)", "method", "epsilon", "sha256 begins with"), rows)
        for e in account.entries:
            if not e.guarantee.startswith("pure"):
                print(f"release {e.sequence}: {e.guarantee}")
        for cap in caps:
            print(f"cap {cap['cap']} set at {cap['time']}")

    facts = account.to_dict() | {"entries": [entry.to_dict() for entry in account.entries], "caps": caps}
    print_result(as_json, facts, show)


def _path(ledger: str | None) -> str:
    return needed(ledger, "ledger", "--ledger")


def _name(dataset: str | None) -> str:
    return needed(dataset, "dataset", "--dataset")


def _row(account: Account) -> tuple[str, ...]:
    facts = account.to_dict()
    words = (facts["dataset"], facts["unit"] or "-", facts["cap"] or "none", facts["spent"], facts["left"] or "-")
    return tuple(str(word) for word in (*words, facts["releases"], facts["unrecorded"]))
