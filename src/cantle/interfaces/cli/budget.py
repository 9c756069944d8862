"""The commands about epsilon: `cantle plan`, with the checks of a large epsilon (a warning, and the option --yes), and
`cantle ledger create`, `show`, `cap` and `history`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cantle.errors import ParameterError
from cantle.interfaces.cli.options import (
    PACKAGES,
    DataSet,
    Json,
    Parameters,
    Scalar,
    SchemaFile,
    argument,
    chosen,
    needed,
    option,
    print_result,
    schema_for,
    settings_of,
    table,
)

if TYPE_CHECKING:
    from cantle.methods.planning.outline import Part, Plan
    from cantle.trusted.ledger import Account


METHODS = ["auto", "mosaic", "rps", "diffgen", "baskets", "diffpart", "journeys", "degrees", "families"]
MethodName = Annotated[
    str | None,
    option(
        f"{', '.join(METHODS[:-1])} or {METHODS[-1]} (default: {METHODS[0]}); or your own, package.module:Class.",
        "NAME",
        choices=METHODS,
    ),
]
Preset = Annotated[
    str, option("default, or paper: a method from a paper as it was published.", "NAME", choices=("default", "paper"))
]
Records = Annotated[
    int | None, option("About how many records (sets, nodes) there are, from public knowledge.", "N", min=1)
]


NAMED = 8
"""At most this many of the columns that are too fine are named."""


def plan_command(
    schema: SchemaFile = None,
    epsilons: Annotated[
        list[str] | None, argument("More values, for comparison; or a data package, which is the schema.", "EPSILON")
    ] = None,
    records: Records = None,
    epsilon: Annotated[str | None, option("The privacy budget; give several to compare them.", "E")] = None,
    want: Annotated[
        str | None, option('Find epsilon: "one-way 0.5%", "group-1% 50", "group-10% 1%", "smallest 200".', "ERROR")
    ] = None,
    method: MethodName = None,
    preset: Preset = "default",
    settings: Parameters = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Say what a release would be like before anything is spent. This reads no data.

    It shows the budget by question, errors to expect, columns that are too fine, time and memory, and epsilon in words.

    Example: cantle plan --schema schema.yaml --records 50000 --epsilon 0.5 1 2

    Example: cantle plan --schema schema.yaml --records 50000 --want "one-way 0.5%"

    Example: cantle plan datapackage.yaml --records 5000 --epsilon 1
    """
    parameters = settings_of(settings, preset)
    if records is None:
        raise ParameterError("plan needs --records N: about how many records there are, from public knowledge")
    package = next((one for one in epsilons or [] if one.lower().endswith(PACKAGES)), "")
    public, method = Path(schema_for(package, schema)), method_named(method)
    values = [one for one in (epsilon, *(epsilons or [])) if one is not None and one != package]
    if not values and want is None:
        values = [one for one in (chosen(None, "epsilon"),) if one is not None]
    if bool(values) == (want is not None):
        raise ParameterError('plan takes either --epsilon E (and more values after it) or --want "one-way 0.5%"')
    show_plans(make_plans(public, records, values, want, method, parameters), as_json)


def method_named(option: str | None) -> str:
    """The method; if it is the address of a class, modules in the working folder are found too."""
    named = chosen(option, "method", "auto")
    if ":" in named and "" not in sys.path:
        sys.path.insert(0, "")
    return named


def make_plans(
    schema: Path, records: int, epsilons: Sequence[str], want: str | None, method: str, parameters: dict[str, Scalar]
) -> list[Plan]:
    """One plan per epsilon, or the single plan whose error is as small as `want` asks for."""
    from cantle.methods.planning import plan, solve, want_of
    from cantle.schema import load_schema

    public, preset = load_schema(schema), str(parameters.pop("preset"))

    def made_with(epsilon: float | str) -> Plan:
        return plan(public, epsilon=epsilon, records=records, method=method, preset=preset, **parameters)

    return [made_with(one) for one in epsilons] if want is None else [solve(want_of(want, records), made_with)]


def show_plans(plans: Sequence[Plan], as_json: bool) -> None:
    """Prints the errors of all plans in one table, then the budget and the explanation of each."""
    from cantle.methods.words import DEPLOYMENTS, like

    for one in plans:
        note_caution(one.epsilon)
    others = [dict(vars(one)) for one in DEPLOYMENTS]
    facts = {"plans": [one.to_dict() for one in plans], "deployments": others}

    def show() -> None:
        first = plans[0]
        by = f"protecting {first.unit}; method {first.outline.method}"
        print(f"{first.records:,} {first.noun}, {by}. No data was read.\n")
        table("What to expect, on average", ("", *_heads(plans)), _errors(plans))
        for one in plans:
            print()
            rows = [_part(part, one.epsilon) for part in one.outline.budget]
            title = f"Budget of epsilon {one.epsilon:g}"
            table(title, ("question", "share", "epsilon", f"noise in one count, {first.noun}"), rows)
            print()
            for line in one.words.lines():
                print(f"* {line}")
            print(f"* {like(one.epsilon)}")
        _show_remarks(plans)
        print()
        print("What others chose: epsilon, by whom, and what it protects (units differ, so compare with care)")
        for d in DEPLOYMENTS:
            print(f"{_range(d.low, d.high):>14}  {d.name}: {d.unit} ({d.source})")

    print_result(as_json, facts, show)


def _heads(plans: Sequence[Plan]) -> list[str]:
    return [f"epsilon {one.epsilon:g}" for one in plans]


def _errors(plans: Sequence[Plan]) -> list[tuple[str, ...]]:
    """The rows of the table of errors, with one column per plan."""
    columns = [one.errors() for one in plans]
    rows: list[tuple[str, ...]] = [
        (name, *(errors[at][1] for errors in columns)) for at, (name, _) in enumerate(columns[0])
    ]
    if all(one.outline.seconds is not None for one in plans):
        rows.append(("time, roughly", *(f"{one.outline.seconds:,.1f} s" for one in plans)))
        rows.append(("memory, roughly", *(f"{one.outline.megabytes:,.0f} MB" for one in plans)))
    return rows


def _part(part: Part, epsilon: float) -> tuple[str, ...]:
    noise = "" if part.noise is None else f"{part.noise:,.1f}"
    return part.question, f"{100 * part.share:.1f} %", f"{part.share * epsilon:.3g}", noise


def _show_remarks(plans: Sequence[Plan]) -> None:
    for one in plans:
        fine = [f"too fine: {text}" for text in one.outline.too_fine]
        if len(fine) > NAMED:
            fine[NAMED:] = [f"{len(fine) - NAMED} more columns are too fine (all of them: --json)"]
        remarks = [*one.remarks(), *fine]
        if remarks:
            print(f"\nWith epsilon {one.epsilon:g}:", *(f"* {text}" for text in remarks), sep="\n")


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def note_caution(epsilon: float) -> None:
    """Prints a warning if epsilon is so large that it protects little."""
    from cantle.methods.words import caution

    text = caution(epsilon)
    if text is not None:
        print(f"warning: {text}", file=sys.stderr)


def require_yes(epsilon: float, yes: bool) -> None:
    """Refuses an epsilon that protects next to nothing, unless the user gave --yes."""
    from cantle.methods.words import RECKLESS

    if epsilon > RECKLESS and not yes:
        raise ParameterError(
            f"epsilon {epsilon:g} is above {RECKLESS} and protects next to nothing; add --yes to publish anyway, "
            "or see what smaller values cost: cantle plan"
        )


ledger_app = typer.Typer(
    help="Keep account of what each data set has spent, across releases.", no_args_is_help=True, rich_markup_mode=None
)

Where = Annotated[str | None, option("A SQLite file or a postgresql:// URL.", "FILE", "--ledger")]
AnyName = Annotated[str | None, option("Default: all data sets.", "NAME", "--dataset")]

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
    epsilon: Annotated[str, argument("The largest total epsilon of the data set.", "N")],
    ledger: Where = None,
    dataset: DataSet = None,
    as_json: Json = False,
) -> None:
    """Set the largest total epsilon that a data set may ever spend. Makes the ledger if it does not exist.

    Example: cantle ledger cap 3 --ledger ledger.db --dataset patients
    """
    from cantle.trusted.ledger import Ledger

    account = Ledger(_path(ledger)).cap(_name(dataset), epsilon)
    print_result(as_json, account.to_dict(), lambda: table("", _SHOWN, [_row(account)]))


@ledger_app.command("history")
def history_command(ledger: Where = None, dataset: DataSet = None, as_json: Json = False) -> None:
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
