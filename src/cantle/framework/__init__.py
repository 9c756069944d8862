"""Recursive partitioning for everybody (RPS 3.1, Algorithm 1): say when to stop and how to cut, and publish with it.

    from cantle import framework as fw

    class QuadTree(fw.Partitioning):
        depth: int = fw.setting(20, at_least=1, at_most=40)

        def stop(self, regions, ask):
            return regions.depth == self.depth or ~ask.worth_splitting(regions, "1/2", above=5)

        def partition(self, regions, ask):
            return regions.halve("in turn")

    cantle.publish(data, schema, epsilon=1, method=QuadTree())

A partitioning sees regions, which are public, and noisy answers, which are paid for; never a record. None of this is
trusted code: it is a thin face of the curator, which admits only questions and rules that have a proof. A mistake in a
class can waste the budget, and cannot exceed it (docs/framework.md).
"""

from __future__ import annotations

from cantle.framework.ask import Ask as Ask
from cantle.framework.partitioning import Partitioning as Partitioning
from cantle.framework.partitioning import setting as setting
from cantle.framework.regions import Cut as Cut
from cantle.framework.regions import Regions as Regions
from cantle.framework.regions import join as join
from cantle.framework.terms import Term as Term
from cantle.framework.terms import left as left
from cantle.framework.terms import maximum as maximum
from cantle.framework.terms import minimum as minimum
from cantle.framework.terms import right as right

__all__ = ["Ask", "Cut", "Partitioning", "Regions", "Term", "join", "left", "maximum", "minimum", "right", "setting"]
