"""The section about the budget: a bar that shows where epsilon went, and a stair of what the data set has spent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from cantle.release.manifest import Manifest
from cantle.release.report.charts import share_text, stacked, steps
from cantle.release.report.content import Figure, Section
from cantle.release.spending import other_paths, spending
from cantle.trusted.core.budget import NANO, words_of

MOST = 7


@dataclass(frozen=True)
class Spent:
    """One release in a ledger."""

    sequence: int
    time: str
    method: str
    epsilon_nano: int


@dataclass(frozen=True)
class Spending:
    """A data set in its ledger: all releases so far, and its cap."""

    dataset: str
    releases: Sequence[Spent]
    cap_nano: int | None

    def stated(self) -> str:
        """The account as JSON, with which the page can be made again."""
        return json.dumps([self.dataset, self.cap_nano, *map(astuple, self.releases)])

    @staticmethod
    def parse(text: str) -> Spending:
        """The account that a page states."""
        dataset, cap, *releases = json.loads(text)
        return Spending(dataset, [Spent(*one) for one in releases], cap)


def budget_section(manifest: Manifest, account: Spending | None = None) -> Section:
    total = manifest.receipt.epsilon_nano
    parts = sorted(spending(manifest).items(), key=lambda part: -part[1])
    left = total - sum(nano for _, nano in parts)
    shown = [*parts[:MOST], *([("other questions", sum(nano for _, nano in parts[MOST:]))] if parts[MOST:] else [])]
    if left > 0:
        shown.append(("not spent", left))
    rows = [
        (name, words_of(nano), share_text(nano / total))
        for name, nano in [*parts, *([("not spent", left)] if left > 0 else [])]
    ]
    spoken = "; ".join(f"{name} {share_text(nano / total)}" for name, nano in shown)
    figure = Figure(
        f"Epsilon {manifest.epsilon} by question",
        stacked([(name, float(nano)) for name, nano in shown], f"Budget: {spoken}."),
        note=other_paths(manifest),
        header=("question", "epsilon", "share"),
        rows=rows,
        open=True,
    )
    words = (
        "Every question to the data was paid for before it was asked; the receipt in release.json lists all of them."
    )
    figures = [figure]
    if (known := account or recorded(manifest)) is not None:
        figures.append(_history(known, manifest))
    legend = tuple((f"c{number % 8}", name) for number, (name, _) in enumerate(shown))
    return Section("budget", "Budget", (words,), figures, legend=legend)


def recorded(manifest: Manifest) -> Spending | None:
    """The account as it was when this release was made."""
    line = manifest.ledger
    if line is None:
        return None
    earlier = [Spent(one.sequence, one.time, one.method, one.epsilon_nano) for one in line.earlier]
    mine = Spent(line.sequence, line.time, manifest.method, manifest.receipt.epsilon_nano)
    return Spending(line.dataset, [*earlier, mine], line.cap_nano)


def _history(account: Spending, manifest: Manifest) -> Figure:
    """The spending of the data set after each release, up to its cap."""
    total, spent = 0, []
    rows = []
    for one in account.releases:
        total += one.epsilon_nano
        spent.append(total / NANO)
        rows.append((str(one.sequence), one.time, one.method, words_of(one.epsilon_nano), words_of(total)))
    cap = None if account.cap_nano is None else account.cap_nano / NANO
    bound = "no cap is set" if account.cap_nano is None else f"the cap is {words_of(account.cap_nano)}"
    label = (
        f"Spending of the data set {account.dataset} after each of {len(rows)} releases: {words_of(total)}; {bound}."
    )
    mine = manifest.ledger.sequence if manifest.ledger is not None else None
    return Figure(
        f"Ledger of {account.dataset}",
        steps(spent, cap, label, mine),
        note=f"Epsilon {words_of(total)} spent by {len(rows)} releases; {bound}. All epsilons of a data set add up.",
        header=("release", "charged (UTC)", "method", "epsilon", "spent so far"),
        rows=rows,
    )
