"""Step 5, Publish: what is about to happen, the run with its time left, and what a stopped run has charged."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from cantle.errors import CantleError, ParameterError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.commands import Job
from cantle.interfaces.studio.guard import fresh_word
from cantle.interfaces.studio.pages import Visit, go, page, part
from cantle.interfaces.studio.project import stamp
from cantle.interfaces.studio.protect_page import Standing, standing
from cantle.interfaces.studio.studio import Studio
from cantle.methods.planning import plan
from cantle.methods.words import RECKLESS
from cantle.trusted.core.budget import NANO, nano_of, words_of


@dataclass(frozen=True)
class Line:
    """One condition that must hold before a release."""

    name: str
    words: str
    problem: str = ""
    where: str = ""


def _lines(studio: Studio, now: Standing) -> list[Line]:
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


def show(studio: Studio, visit: Visit, error: str = "") -> Response:
    """The page."""
    now = standing(studio.project)
    lines = _lines(studio, now)
    return page(
        studio,
        "publish",
        "publish",
        visit,
        error,
        commands=[_arguments(studio, studio.data_shown, studio.project.free_release())],
        lines=lines,
        ready=not any(line.problem for line in lines),
        word=f"{fresh_word()}.{_shown(studio, now)}",
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


def _shown(studio: Studio, now: Standing) -> str:
    """A hash of all that the form shows. If something has changed since, this form does not publish it: another tab may
    have set a larger epsilon, or made the release already."""
    arguments = _arguments(studio, studio.data, studio.project.free_release())
    return stamp([studio.schema.text, *arguments, now.words["charges"]])


def start(studio: Studio, visit: Visit) -> Response | None:
    """Starts the run; a form that was sent twice, or from two tabs, starts one."""
    lines = _lines(studio, standing(studio.project))
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
    if shown != _shown(studio, now):
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
