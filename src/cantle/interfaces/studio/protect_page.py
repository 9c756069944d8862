"""Steps 3, 4 and 7: whom to protect, the budget, and the ledger that adds up what the data set has spent.

Step 3, Whom to protect: one record or one person, and the account of the data set. Step 4, Budget: what an epsilon
means in words, and the error that `plan` expects. Step 7, Ledger, shows what each data set has spent, charge by charge,
and its cap. No private record is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from cantle.data.draft_schema.tables import flow
from cantle.errors import CantleError, ParameterError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.pages import Visit, page, part
from cantle.interfaces.studio.project import LEDGER, Project
from cantle.interfaces.studio.studio import Studio
from cantle.methods.planning import plan
from cantle.methods.words import DEPLOYMENTS, RECKLESS, caution, like
from cantle.release.report.budget_section import Spending, bar_of_shares, spent, stair
from cantle.trusted.core.budget import nano_of, words_of
from cantle.trusted.ledger import Account, Ledger, check_name


@dataclass(frozen=True)
class Standing:
    """The account of the data set, and the reason if it is empty because it cannot be shown, or does not exist yet."""

    account: Account
    problem: str = ""
    missing: bool = False

    @property
    def words(self) -> Mapping[str, str | int | None]:
        """What was spent, the cap, what is left and so on."""
        return self.account.to_dict()

    def over(self, nano: int) -> str:
        """Says what is left, if a charge would pass the cap."""
        left = self.account.left_nano
        over = left is not None and nano > left
        return f"only {self.words['left']} is left of the cap of {self.words['cap']}" if over else ""


def accounts_of(project: Project) -> list[Account]:
    """All accounts of the project's ledger; none if there is no ledger yet."""
    where = project.ledger()
    return Ledger(where).accounts() if where and ("://" in where or Path(where).exists()) else []


def standing(project: Project) -> Standing:
    """The account of the project's data set, as it is now."""
    name = project.settings.dataset
    try:
        known = next((one for one in accounts_of(project) if one.dataset == name), None)
    except CantleError as error:
        return Standing(Account(name, None, (), ()), str(error))
    return Standing(known or Account(name, None, (), ()), missing=known is None)


def show_ledger(studio: Studio, visit: Visit) -> Response:
    """The page of all accounts."""
    settings, accounts, error = studio.settings, list[Account](), ""
    try:
        accounts = accounts_of(studio.project)
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
    made = stair(Spending(account.dataset, account.cap_nano, [*map(spent, account.entries)]))
    outcomes = [entry.sha256[:16] if entry.sha256 else entry.state for entry in account.entries]
    rows = [(*row, outcome) for row, outcome in zip(made.rows, outcomes, strict=True)]
    caps = [(time, words_of(nano)) for time, nano in account.caps]
    return account.to_dict() | {"rows": rows, "caps": caps, "chart": made.svg if rows or caps else None}


def show(studio: Studio, visit: Visit, error: str = "") -> Response:
    """The page."""
    schema, settings, now = studio.schema, studio.settings, standing(studio.project)
    unit = schema.document.get("unit")
    person = unit if isinstance(unit, Mapping) else {}
    names = [str(one.get("name")) for one in schema.columns]
    ledger, dataset = settings.ledger or LEDGER, settings.dataset or "NAME"
    return page(
        studio,
        "protect",
        "protect",
        visit,
        error,
        commands=[commands.cap(visit.text("cap") or str(now.words["cap"] or "3"), ledger, dataset)],
        yaml=f"# in {settings.schema}\nunit: {flow(unit if unit is not None else 'record')}",
        unit_in_schema=schema.kind.unit,
        names=names,
        person=visit.form.get("person", str(person.get("person", ""))),
        most=visit.form.get("most", str(person.get("max_records", 1))),
        protects_person=visit.form.get("unit", "person" if person else "record") == "person",
        ledger=visit.form.get("ledger", settings.ledger or LEDGER),
        dataset=visit.form.get("dataset", settings.dataset),
        saved=bool(settings.ledger and settings.dataset),
        standing=now,
        exists=schema.exists,
        cap=visit.form.get("cap", ""),
    )


def save_unit(studio: Studio, visit: Visit) -> None:
    """Writes the unit into the schema. The column of persons becomes an identifier, which serves no other purpose."""
    schema = studio.schema
    document = dict(schema.document)
    if visit.text("unit") == "person":
        person, most = visit.text("person"), visit.text("most")
        if not person or not most.isascii() or not most.isdigit() or not 1 <= int(most) <= 10**6:
            raise ParameterError("to protect persons, choose their column and a number of records from 1 to 1000000")
        document["unit"] = {"person": person, "max_records": int(most)}
        if schema.kind.has_boxes:
            document["fields"] = [_as_identifier(one, person) for one in schema.columns]
        else:
            document.pop("fields", None)
    else:
        document.pop("unit", None)
    schema.save(document)


def _as_identifier(column: dict[str, object], person: str) -> dict[str, object]:
    """The column of persons as an identifier; other columns as they are."""
    return {"name": person, "role": "identifier"} if column.get("name") == person else column


def save_ledger(studio: Studio, visit: Visit) -> None:
    """Writes the names of ledger and data set into cantle.toml; no ledger is made yet."""
    ledger, dataset = visit.text("ledger"), visit.text("dataset")
    if visit.text("none"):
        studio.project.set(ledger=None, dataset=None)
        return
    if not ledger:
        raise ParameterError("name a file for the ledger, such as ledger.db")
    check_name(dataset)
    studio.project.set(ledger=ledger, dataset=dataset)


def set_cap(studio: Studio, visit: Visit) -> None:
    """Sets the most that the data set may ever spend, and makes the ledger if there is none."""
    settings = studio.settings
    if not settings.ledger or not settings.dataset:
        raise ParameterError("first save the names of the ledger and of the data set")
    Ledger(studio.project.ledger()).cap(settings.dataset, visit.text("cap"))


DEFAULT = "1"


def outlook(studio: Studio, epsilon: str, records: str) -> dict[str, object]:
    """The plan for a release, from the schema and public numbers alone; or the problem, why there is none."""
    try:
        number = _records(records)
        nano = nano_of(epsilon)
        forecast = plan(studio.schema.load(), epsilon=epsilon, records=number)
    except CantleError as error:
        return {"problem": str(error)}
    budget = sorted(forecast.outline.budget, key=lambda one: -one.share)
    bar, parts = bar_of_shares([(one.question, one.share) for one in budget])
    return {
        "problem": "",
        "plan": forecast,
        "caution": caution(forecast.epsilon),
        "like": like(forecast.epsilon),
        "bar": bar,
        "parts": parts,
        "over": standing(studio.project).over(nano),
        "command": commands.shown(commands.plan(studio.settings.schema, epsilon, number)),
    }


def _records(text: str) -> int:
    digits = text.replace(",", "").replace("_", "").replace(" ", "")
    if not digits.isascii() or not digits.isdigit() or not 0 < len(digits) <= 13:
        raise ParameterError("say about how many records there are, from public knowledge; for example 50000")
    return int(digits)


def show_budget(studio: Studio, visit: Visit, error: str = "") -> Response:
    """The page."""
    settings = studio.settings
    epsilon = visit.form.get("epsilon", settings.epsilon or DEFAULT).strip()
    records = visit.form.get("records", str(settings.records or "")).strip()
    return page(
        studio,
        "budget",
        "budget",
        visit,
        error,
        yaml=f'# in cantle.toml\nepsilon = "{settings.epsilon}"' if settings.epsilon else "",
        epsilon=epsilon,
        records=records,
        saved=bool(settings.epsilon),
        outlook=outlook(studio, epsilon, records) if records else None,
        deployments=DEPLOYMENTS,
        reckless=RECKLESS,
        standing=standing(studio.project),
    )


def plan_part(studio: Studio, visit: Visit) -> Response:
    """The plan for what the form holds now."""
    records = visit.text("records")
    forecast = outlook(studio, visit.text("epsilon"), records) if records else None
    return part("plan", outlook=forecast, epsilon=visit.text("epsilon"), deployments=DEPLOYMENTS)


def save_budget(studio: Studio, visit: Visit) -> None:
    """Writes epsilon and the public number of records into cantle.toml."""
    epsilon = visit.text("epsilon")
    nano_of(epsilon)
    studio.project.set_own(records=_records(visit.text("records")))
    studio.project.set(epsilon=epsilon)
