"""Step 4, Budget: what an epsilon means in words, and the error that `plan` expects. Nothing private is read."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from cantle.errors import CantleError, ParameterError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.pages import Visit, page, part
from cantle.interfaces.studio.protect_page import standing
from cantle.interfaces.studio.studio import Studio
from cantle.methods.planning import plan
from cantle.methods.planning.outline import Plan
from cantle.methods.planning.words import DEPLOYMENTS, RECKLESS, caution, like
from cantle.release.report.charts import Svg, share_text, stacked
from cantle.trusted.core.budget import nano_of

DEFAULT = "1"
_MOST_PARTS = 7


@dataclass(frozen=True)
class Outlook:
    """A plan for a page, or the reason why there is none."""

    plan: Plan | None = None
    problem: str = ""
    caution: str = ""
    like: str = ""
    bar: Svg | None = None
    parts: tuple[tuple[str, str, str], ...] = ()
    over: str = ""
    command: str = ""


def outlook(studio: Studio, epsilon: str, records: str) -> Outlook:
    """The plan for a release, from the schema and public numbers alone."""
    try:
        number = _records(records)
        nano = nano_of(epsilon)
        forecast = plan(studio.schema.load(), epsilon=epsilon, records=number)
    except CantleError as error:
        return Outlook(problem=str(error))
    now = standing(studio.project)
    left = None if now.account is None else now.account.left_nano
    over = f"only {now.left} is left of the cap of {now.cap}" if left is not None and nano > left else ""
    budget = sorted(forecast.outline.budget, key=lambda one: -one.share)
    shown = [(one.question, one.share) for one in budget[:_MOST_PARTS]]
    if budget[_MOST_PARTS:]:
        shown.append(("other questions", sum(one.share for one in budget[_MOST_PARTS:])))
    spoken = "; ".join(f"{name} {share_text(share)}" for name, share in shown)
    parts = tuple((f"c{number % 8}", name, share_text(share)) for number, (name, share) in enumerate(shown))
    return Outlook(
        forecast,
        caution=caution(forecast.epsilon) or "",
        like=like(forecast.epsilon),
        bar=stacked(shown, f"Budget: {spoken}."),
        parts=parts,
        over=over,
        command=commands.shown(commands.plan(studio.settings.schema, epsilon, number)),
    )


def _records(text: str) -> int:
    digits = text.replace(",", "").replace("_", "").replace(" ", "")
    if not digits.isascii() or not digits.isdigit() or not 0 < len(digits) <= 13:
        raise ParameterError("say about how many records there are, from public knowledge; for example 50000")
    return int(digits)


def show(studio: Studio, visit: Visit, error: str = "") -> Response:
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


def save(studio: Studio, visit: Visit) -> None:
    """Writes epsilon and the public number of records into cantle.toml."""
    epsilon = visit.text("epsilon")
    nano_of(epsilon)
    studio.project.set_own(records=_records(visit.text("records")))
    studio.project.set(epsilon=epsilon)
