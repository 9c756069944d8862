"""Step 3, Whom to protect: one record or one person, and the ledger that adds up what the data set has spent."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from cantle.errors import ParameterError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.ledger_page import standing
from cantle.interfaces.studio.pages import Visit, page
from cantle.interfaces.studio.project import LEDGER
from cantle.interfaces.studio.schema_file import flow
from cantle.interfaces.studio.studio import Studio
from cantle.trusted.ledger import Ledger, check_name


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
        commands=[commands.cap(visit.text("cap") or now.cap or "3", ledger, dataset)],
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
