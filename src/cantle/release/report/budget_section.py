"""The section about the budget: a bar that shows where epsilon went, and a stair of what the data set has spent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from cantle.release.manifest import Manifest
from cantle.release.report.charts import Svg, share_text, stacked, steps
from cantle.release.report.content import Figure, Section
from cantle.release.spending import other_paths, spending
from cantle.trusted.core.budget import NANO, words_of

MOST = 7

Spent = tuple[int, str, str, int]
"""One release in a ledger: its number, time and method, and its epsilon in billionths."""


def spent(one: Any) -> Spent:
    """A release, given its entry in the ledger, or in the manifest of a later release."""
    return one.sequence, one.time, one.method, one.epsilon_nano


@dataclass(frozen=True)
class Spending:
    """A data set in its ledger: its cap, and all releases so far."""

    dataset: str
    cap_nano: int | None
    releases: Sequence[Spent]

    def stated(self) -> str:
        """The account as JSON, with which the page can be made again."""
        return json.dumps([self.dataset, self.cap_nano, *self.releases])

    @staticmethod
    def parse(text: str) -> Spending:
        """The account that a page states."""
        dataset, cap, *releases = json.loads(text)
        return Spending(dataset, cap, [(number, time, method, nano) for number, time, method, nano in releases])


def bar_of_shares(parts: Sequence[tuple[str, float]], left: float = 0.0) -> tuple[Svg, list[tuple[str, str, str]]]:
    """The largest shares of epsilon by question as one bar, with what is left; and colour, name and share of each."""
    shown = [*parts[:MOST]]
    if parts[MOST:]:
        shown.append(("other questions", sum(share for _, share in parts[MOST:])))
    if left > 0:
        shown.append(("not spent", left))
    spoken = "; ".join(f"{name} {share_text(share)}" for name, share in shown)
    legend = [(f"c{number % 8}", name, share_text(share)) for number, (name, share) in enumerate(shown)]
    return stacked(shown, f"Budget: {spoken}."), legend


def budget_section(manifest: Manifest, account: Spending | None = None) -> Section:
    total = manifest.receipt.epsilon_nano
    parts = sorted(spending(manifest).items(), key=lambda part: -part[1])
    left = total - sum(nano for _, nano in parts)
    bar, legend = bar_of_shares([(name, nano / total) for name, nano in parts], left / total)
    listed = [*parts, *([("not spent", left)] if left > 0 else [])]
    figure = Figure(
        f"Epsilon {manifest.epsilon} by question",
        bar,
        note=other_paths(manifest),
        header=("question", "epsilon", "share"),
        rows=[(name, words_of(nano), share_text(nano / total)) for name, nano in listed],
        open=True,
    )
    words = (
        "Every question to the data was paid for before it was asked; the receipt in release.json lists all of them."
    )
    line, known = manifest.ledger, account or recorded(manifest)
    history = [] if known is None else [stair(known, None if line is None else line.sequence)]
    named = [(colour, name) for colour, name, _ in legend]
    return Section("budget", "Budget", (words,), [figure, *history], legend=named)


def recorded(manifest: Manifest) -> Spending | None:
    """The account as it was when this release was made."""
    line = manifest.ledger
    if line is None:
        return None
    mine = line.sequence, line.time, manifest.method, manifest.receipt.epsilon_nano
    return Spending(line.dataset, line.cap_nano, [*map(spent, line.earlier), mine])


def stair(account: Spending, mine: int | None = None) -> Figure:
    """What the data set has spent after each release, as a stair up to its cap; `mine` is the number of this one."""
    totals = list(accumulate(nano for *_, nano in account.releases))
    rows = [
        (str(number), time, method, words_of(nano), words_of(total))
        for (number, time, method, nano), total in zip(account.releases, totals, strict=True)
    ]
    cap = None if account.cap_nano is None else account.cap_nano / NANO
    bound = "no cap is set" if account.cap_nano is None else f"the cap is {words_of(account.cap_nano)}"
    in_all = words_of(totals[-1] if totals else 0)
    label = f"Spending of the data set {account.dataset} after each of {len(rows)} releases: {in_all}; {bound}."
    return Figure(
        f"Ledger of {account.dataset}",
        steps([total / NANO for total in totals], cap, label, mine),
        note=f"Epsilon {in_all} spent by {len(rows)} releases; {bound}. All epsilons of a data set add up.",
        header=("release", "charged (UTC)", "method", "epsilon", "spent so far"),
        rows=rows,
    )
