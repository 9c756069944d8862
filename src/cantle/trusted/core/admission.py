"""Admission: which questions and rules a curator accepts, decided before it charges anything or looks at a record.

Only types listed here are accepted, each with its claim in this folder, and only about the regions and the domain that
they fit. Decisions use public values only, so that no refusal depends on a record.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeVar, cast

from cantle.errors import ParameterError
from cantle.trusted.claims.cut_candidates import CUT_CANDIDATES, AnyScored, Candidates
from cantle.trusted.claims.degree_queries import GRAPH_KEYS, Bounds, Lag, Projection
from cantle.trusted.claims.list_queries import LIST_QUERIES
from cantle.trusted.claims.queries import SPARSE_QUERIES, TRUSTED_QUERIES, Query, SparseQuery
from cantle.trusted.claims.scores import CUT_QUALITIES, Score
from cantle.trusted.claims.sequence_queries import SEQUENCE_KEYS, ListedStrings
from cantle.trusted.claims.set_queries import BASKET_KEYS, PairSupports
from cantle.trusted.claims.specialisations import SPECIALISATIONS
from cantle.trusted.claims.table_candidates import TABLE_CANDIDATES, TABLE_QUALITIES
from cantle.trusted.claims.table_queries import CELL_QUERIES, Spikes
from cantle.trusted.claims.terms import TermScore
from cantle.trusted.claims.views import VIEW_QUERIES, ViewSpikes
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import Counted, MergedOneWays, OneWays, finest
from cantle.trusted.counting.base import Engine, Rule
from cantle.trusted.geometry.boxes import BOX_RULES, Cuts, Frontier
from cantle.trusted.geometry.item_partitions import Kept, Partitions

Regions = Frontier | Partitions
Nodes = TypeVar("Nodes", bound=Regions)
Judge = TypeVar("Judge", bound=Score)
Answer = TypeVar("Answer")

REGIONS = (Frontier, Partitions)
RULES: dict[type, tuple[type, ...]] = {Frontier: BOX_RULES, Partitions: (Kept,)}
SCORES = (*CUT_QUALITIES, *TABLE_QUALITIES, Lag, TermScore)
CANDIDATES = (*CUT_CANDIDATES, *SPECIALISATIONS, *TABLE_CANDIDATES, Bounds)
QUERIES = (*TRUSTED_QUERIES, *CELL_QUERIES, *LIST_QUERIES, *VIEW_QUERIES, *GRAPH_KEYS, *BASKET_KEYS, *SEQUENCE_KEYS)
KEYS = (*QUERIES, OneWays, MergedOneWays)
THRESHOLD_QUERIES = (*SPARSE_QUERIES, Spikes, ViewSpikes, PairSupports, ListedStrings)


class Question(Protocol):
    """What candidates and queries with thresholds declare about the data and regions that they are for."""

    kind: ClassVar[str]
    everyone: ClassVar[bool]


def require_trusted(thing: object, types: tuple[type, ...]) -> None:
    """Refuses objects that would get exact counts without a proof in the trusted base: also those of a known class to
    which something was added, or to an object inside of them, because that could take the place of a method."""
    if type(thing) not in types or not _is_plain(thing):
        raise ParameterError(f"{type(thing).__name__} has no proof in the trusted base; add it there with its claim")


def _is_plain(thing: object) -> bool:
    """Whether this object and those in its fields have nothing but their fields and what is computed from these."""
    if type(thing) is tuple:
        return all(map(_is_plain, thing))
    if not is_dataclass(thing):
        return True
    added = vars(thing).keys() - {one.name for one in fields(thing)}
    known = all(type(getattr(type(thing), name, None)) is cached_property for name in added)
    return known and all(map(_is_plain, vars(thing).values()))


def admit_candidates(
    candidates: Candidates[Nodes, Judge, AnyScored, Answer], quality: Judge, nodes: Nodes, engine: Engine, unit: Unit
) -> Judge:
    """The score, made anew: one could be changed after it was checked. Refuses candidates that are not for these
    regions, and scores without a proof for them or for this unit."""
    require_trusted(quality, SCORES)
    require_trusted(candidates, CANDIDATES)
    quality = cast(Judge, replace(cast(Any, quality)))
    _require_kind(candidates, nodes, engine)
    if not candidates.fits(nodes, engine.domain, quality):
        raise ParameterError("these are not candidates for these regions, or the score has no proof for them")
    if isinstance(candidates, Bounds):
        candidates.require(unit)
    return quality


def admit_query(query: Query, nodes: Regions, engine: Engine) -> Counted:
    """The key of a query about all cells of these regions; refuses other queries, and keys that the engine cannot
    count."""
    require_trusted(query, QUERIES)
    key = query.key
    require_trusted(key, KEYS)
    if type(finest(key)) not in engine.keys or not key.fits(nodes, engine.domain):
        raise ParameterError("the query does not fit these regions")
    return key


def admit_threshold_query(query: SparseQuery[Nodes], nodes: Nodes, engine: Engine) -> None:
    """Refuses queries about cells from a threshold on that are not for these regions."""
    require_trusted(query, THRESHOLD_QUERIES)
    _require_kind(query, nodes, engine)
    if not query.fits(nodes, engine.domain):
        raise ParameterError("the query does not fit these regions")


def admit_rule(rule: Rule[Nodes] | Projection, nodes: Nodes, engine: Engine, unit: Unit) -> None:
    """Refuses rules under which a record would not have exactly one child, or be dropped by a public rule."""
    require_trusted(rule, (*BOX_RULES, Kept, Projection))
    if isinstance(rule, Projection):
        if len(nodes) != 1 or not rule.fits(engine, unit):
            raise ParameterError("the graph cannot be projected so, or there is no proof for this unit")
    elif engine.kind in ("graphs", "families") or type(rule) not in RULES[type(nodes)] or not rule.fits(nodes):
        raise ParameterError(
            "each region needs one cut, or several in ascending order, strictly inside it; sub-partitions must be "
            "distinct and in order"
        )
    elif isinstance(rule, Cuts) and not rule.divides_small(engine.domain):
        raise ParameterError("only columns of tables with few values can be cut into sets")


def _require_kind(question: Question, nodes: Regions, engine: Engine) -> None:
    """Refuses questions for other kinds of data. If engines answer a question from all their records, whatever the
    region, it must be about the unsplit root: a region below the root pays only for its own records."""
    if engine.kind != question.kind:
        raise ParameterError(f"this question is for {question.kind}")
    if question.everyone and (len(nodes) != 1 or nodes.depth):
        raise ParameterError("this question looks at all records: ask about the root, before the first split")
