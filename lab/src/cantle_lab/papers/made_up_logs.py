"""Made-up logs of sequences: work items, an order process, care pathways and click paths. None is of real persons.

Each generator draws its records one after another from a fixed seed. Journeys was tuned on work items only.
"""

from __future__ import annotations

import numpy as np

from cantle_lab.papers.sequences import Sequences


def work_items(records: int = 8_700, seed: int = 11) -> Sequences:
    """Few activities that repeat often, with a few very long cases, such as work items of loans."""
    dice, rows = np.random.default_rng(seed), []
    for heavy in (dice.random(records) ** 3).tolist():
        row, step = list[int](), 0
        while step < 6 and len(row) < 40:
            mean = 1 + 14 * heavy * (0.3, 1.0, 0.6, 1.2, 0.2, 0.1)[step]
            row += [step] * int(dice.geometric(1 / mean))
            chance = float(dice.random())
            if step == 3 and chance < 0.2:
                step = 1
            elif step != 1 and chance < 0.28:
                break
            else:
                step += 1
        rows.append(row)
    return Sequences.of(rows, 6, 40)


def order_process(records: int = 12_000, seed: int = 21) -> Sequences:
    """Orders that are checked (0, 1), then picked, packed and invoiced by branches that run at the same time (2 to 6),
    are sometimes sent back to the check (7), and are paid after reminders (8, 9) or cancelled (10)."""
    dice, rows = np.random.default_rng(seed), []
    for _ in range(records):
        row = [0, 1]
        while True:
            goods, bill = [2, 3, 4], [5, 6]
            while goods or bill:
                first = bill if not goods or (bill and dice.random() < 0.4) else goods
                row.append(first.pop(0))
            if dice.random() > 0.15:
                break
            row += [7, 1]
        row += [8] * int(dice.geometric(0.6) - 1)
        row.append(9 if dice.random() < 0.92 else 10)
        rows.append(row)
    return Sequences.of(rows, 11, 40)


def care_pathways(records: int = 6_000, seed: int = 22) -> Sequences:
    """A symbol per week: referral (0), long waits (1), diagnosis (2), cycles of one of three therapies and of rest
    (3 to 6), controls (7) and relapses (8), until discharge (9)."""
    dice, rows = np.random.default_rng(seed), []
    for slow in dice.gamma(2.0, 3.0, records).tolist():
        row = [0, *[1] * int(dice.poisson(slow)), 2]
        therapy = 3 + int(dice.choice(3, p=[0.6, 0.3, 0.1]))
        while True:
            for _ in range(int(dice.integers(3, 8))):
                row += [therapy, *[6] * int(dice.integers(1, 4))]
            row += [7, *[1] * int(dice.poisson(slow / 2)), 7]
            if dice.random() > 0.25:
                break
            row.append(8)
            therapy = 3 + (therapy - 2) % 3
        rows.append([*row, 9])
    return Sequences.of(rows, 10, 60)


def click_paths(records: int = 60_000, seed: int = 23) -> Sequences:
    """Pages of a site of three hundred, of very unequal popularity: readers follow a page's links, go back, reload, or
    jump to a popular page; a few stay for long."""
    dice, pages = np.random.default_rng(seed), 300
    popular = 1 / (np.arange(pages) + 3.0)
    popular /= popular.sum()
    links = dice.choice(pages, (pages, 8), p=popular)
    rows = []
    for length in np.minimum(1 + dice.pareto(1.4, records) * 2, 30).astype(int).tolist():
        row = [int(dice.choice(pages, p=popular))]
        for chance in dice.random(length - 1).tolist():
            back = row[-2] if len(row) > 1 else row[-1]
            linked = int(links[row[-1], min(7, dice.geometric(0.4) - 1)])
            jump = int(dice.choice(pages, p=popular)) if chance > 0.85 else linked
            row.append(back if chance < 0.15 else row[-1] if chance < 0.22 else jump)
        rows.append(row)
    return Sequences.of(rows, pages, 30)
