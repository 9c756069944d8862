"""Steps 3 to 5 and 7: whom to protect, the budget, the release, and the ledger that adds up what was spent.

Step 3, Whom to protect: one record or one person, and the account of the data set. Step 4, Budget: what an epsilon
means in words, and the error that `plan` expects. Step 5, Publish: what is about to happen, the run with its time left,
and what a stopped run has charged. Step 7, Ledger, shows what each data set has spent, charge by charge, and its cap.
No page reads a private record; a command does that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from cantle.data.draft_schema.tables import flow
from cantle.errors import CantleError, ParameterError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.commands import Job
from cantle.interfaces.studio.guard import fresh_word
from cantle.interfaces.studio.pages import Visit, go, page, part
from cantle.interfaces.studio.project import LEDGER, Project, stamp
from cantle.interfaces.studio.studio import Studio
from cantle.methods.planning import plan
from cantle.methods.words import DEPLOYMENTS, RECKLESS, caution, like
from cantle.release.report.budget_section import Spending, bar_of_shares, spent, stair
from cantle.trusted.core.budget import NANO, nano_of, words_of
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


def show_protect(studio: Studio, visit: Visit, error: str = "") -> Response:
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


# ---- the release ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One condition that must hold before a release."""

    name: str
    words: str
    problem: str = ""
    where: str = ""


def _conditions(studio: Studio, now: Standing) -> list[Line]:
    """All conditions, each with the step in which a problem is fixed."""
    settings, schema = studio.settings, studio.schema
    try:
        studio.require_data()
        data = Line("Data", studio.data_shown)
    except CantleError as error:
        data = Line("Data", "", str(error), "/data")
    wrong = schema.problem()
    columns = Line("Schema", f"{settings.schema}, complete", wrong, "/columns")
    try:
        nano = nano_of(settings.epsilon) if settings.epsilon else 0
        budget = Line("Epsilon", settings.epsilon, "" if nano else "choose epsilon first", "/budget")
    except CantleError as error:
        nano, budget = 0, Line("Epsilon", settings.epsilon, str(error), "/budget")
    return [data, columns, budget, _ledger_line(studio, now, nano)]


def _ledger_line(studio: Studio, now: Standing, nano: int) -> Line:
    settings = studio.settings
    if not settings.ledger:
        words = "none: earlier releases of this data set are not known, and this one is not written down"
        return Line("Ledger", words, "", "/protect")
    if now.problem or now.missing:
        problem = now.problem or "the ledger does not know this data set yet; set its cap"
        return Line("Ledger", settings.ledger, problem, "/protect")
    facts = now.words
    left = f"{facts['left']} left of {facts['cap']}" if facts["cap"] else "no cap"
    known = f"{settings.ledger}, data set {settings.dataset}: epsilon {facts['spent']} spent, {left}"
    return Line("Ledger", known, now.over(nano), "/budget")


def show_publish(studio: Studio, visit: Visit, error: str = "") -> Response:
    """The page."""
    now = standing(studio.project)
    lines = _conditions(studio, now)
    return page(
        studio,
        "publish",
        "publish",
        visit,
        error,
        commands=[_arguments(studio, studio.data_shown, studio.project.free_release())],
        lines=lines,
        ready=not any(line.problem for line in lines),
        word=f"{fresh_word()}.{_form_of(studio, now)}",
        epsilon=studio.settings.epsilon,
        reckless=_above(studio.settings.epsilon),
        limit=RECKLESS,
        job=studio.desk.job,
        ended=_ended(studio),
    )


def _above(epsilon: str) -> bool:
    """Whether the command asks for a confirmation of such an epsilon."""
    try:
        return bool(epsilon) and nano_of(epsilon) > RECKLESS * NANO
    except CantleError:
        return False


def _arguments(studio: Studio, data: str, out: str) -> list[str]:
    one = studio.settings
    sure = ["--yes"] if _above(one.epsilon) else []
    return [*commands.publish(data, one.schema, one.epsilon, out, one.ledger, one.dataset), *sure]


def _form_of(studio: Studio, now: Standing) -> str:
    """A hash of all that the form shows. If something has changed since, this form does not publish it: another tab may
    have set a larger epsilon, or made the release already."""
    arguments = _arguments(studio, studio.data, studio.project.free_release())
    return stamp([studio.schema.text, *arguments, now.words["charges"]])


def start(studio: Studio, visit: Visit) -> Response | None:
    """Starts the run; a form that was sent twice, or from two tabs, starts one."""
    lines = _conditions(studio, standing(studio.project))
    if any(line.problem for line in lines):
        raise ParameterError("something is missing; see the list")
    if _above(studio.settings.epsilon) and not visit.text("sure"):
        raise ParameterError(f"epsilon is above {RECKLESS} and protects next to nothing; tick the box if it is meant")
    word = visit.text("word")
    started = studio.desk.start(word, lambda: _job(studio, word.rpartition(".")[2]))
    return None if started else go("/publish", "used")


def _job(studio: Studio, shown: str) -> Job:
    """The run that the form showed. No other run can start meanwhile, because the desk makes one job at a time."""
    now, out = standing(studio.project), studio.project.free_release()
    if shown != _form_of(studio, now):
        what = "data, schema, settings, ledger or releases were changed since"
        raise ParameterError(f"{what}; read this page again, then publish")
    job = Job(
        studio.launch,
        _arguments(studio, studio.data, out),
        studio.folder,
        studio.private.new("notes.txt"),
        studio.private.lock,
        _seconds(studio),
    )
    job.out, job.charges_before = out, len(now.account.entries)
    return job


def _seconds(studio: Studio) -> float | None:
    """How long the run takes according to the plan."""
    settings = studio.settings
    if settings.records is None:
        return None
    try:
        return plan(studio.schema.load(), epsilon=settings.epsilon, records=settings.records).outline.seconds
    except CantleError:
        return None


def progress(studio: Studio, _: Visit) -> Response:
    """Shows how far the run is."""
    return part("progress", job=studio.desk.job, ended=_ended(studio))


def cancel(studio: Studio, _: Visit) -> Response:
    """Stops the run and says what was charged."""
    if (job := studio.desk.job) is not None:
        job.stop()
    return go("/publish")


def _ended(studio: Studio) -> dict[str, str] | None:
    """The result of a run; None while there is none."""
    job = studio.desk.job
    if job is None or job.running:
        return None
    if job.code == 0:
        state, words = "done", f"The release is in {job.out}/."
    elif job.asked_to_stop:
        state, words = "stopped", "It was stopped. Nothing was released."
    else:
        state, words = "failed", job.complaint
    return {"state": state, "words": words, "charge": _charge(studio, job), "release": job.out}


def _charge(studio: Studio, job: Job) -> str:
    """What the ledger says about this run."""
    if "--ledger" not in job.arguments:
        return "No ledger was used, so nothing was charged anywhere."
    now = standing(studio.project)
    if now.problem:
        return f"The ledger cannot be read: {now.problem}"
    if len(now.account.entries) <= job.charges_before:
        return "Nothing was charged to the ledger."
    entry = now.account.entries[job.charges_before]
    stands = "" if entry.sha256 else " The charge stands, because the data may have been opened."
    left = f" {now.words['left']} is left of the cap of {now.words['cap']}." if now.words["cap"] else ""
    return f"Epsilon {words_of(entry.epsilon_nano)} was charged to data set {now.account.dataset}.{stands}{left}"
