"""Trees in both forms: any number of children, which must be disjoint and cover their parent.

The reader needs only what the structure says."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import VerifyError
from cantle.release.schemas import domain_of
from cantle.release.show import overview, sections
from cantle.release.structures.tree_nodes import Nodes, nodes_of
from cantle.release.verify import problems
from cantle.schema.domain import Attribute, Domain, Steps
from tests.release.changes import with_manifest, with_parts
from tests.release.kinds import tree_lines
from tests.release.people import SCHEMA, people

DOMAIN = Domain(
    tuple(
        Attribute(name, Steps(type="integer", first=0, step=1, grid=size), nullable=False)
        for name, size in (("a", 8), ("b", 6))
    ),
    None,
    ("a", "b"),
)
ROWS = [  # node 1 is cut by b in three, node 3 by a in two
    (0, -1, 0, None, None, None),
    (1, 0, 1, "a", 0, 2),
    (2, 0, 1, "a", 2, 3),
    (3, 0, 1, "a", 3, 8),
    (4, 1, 2, "b", 0, 1),
    (5, 1, 2, "b", 1, 5),
    (6, 1, 2, "b", 5, 6),
    (7, 3, 2, "a", 3, 6),
    (8, 3, 2, "a", 6, 8),
]


def frame(rows: list[Any], words: bool = True) -> pl.DataFrame:
    made = pl.DataFrame(rows, orient="row", schema={
        "node": pl.Int64, "parent": pl.Int64, "depth": pl.Int64, "column": pl.String, "lo": pl.Int64, "hi": pl.Int64
    })  # fmt: skip
    if not words:
        return made
    described = {one.name: one for one in DOMAIN.attributes}
    said = [None if row[3] is None else described[row[3]].describe(row[4], row[5]) for row in rows]
    return made.with_columns(values=pl.Series(said, dtype=pl.String))


def test_a_tree_with_any_number_of_children_is_read() -> None:
    nodes = nodes_of(frame(ROWS), DOMAIN)
    assert nodes.leaves.tolist() == [2, 4, 5, 6, 7, 8]
    assert nodes.lo[5].tolist() == [0, 1]
    assert nodes.hi[5].tolist() == [2, 5]
    assert nodes.name(7, DOMAIN) == f"a {DOMAIN.attributes[0].describe(3, 6)}"
    assert nodes.counts(nodes.leaves, np.arange(6)).tolist() == [15, 6, 0, 9, 1, 2, 3, 4, 5]


def test_every_point_has_one_leaf() -> None:
    points = np.stack(np.meshgrid(np.arange(8), np.arange(6)), axis=-1).reshape(-1, 2)
    wide = frame([ROWS[0], *((1 + k, 0, 1, "b", k, k + 1) for k in range(6))])
    long = Domain((Attribute("a", Steps(type="integer", first=0, step=1, grid=40), nullable=False),), None, ("a",))
    many = frame([ROWS[0], *((1 + k, 0, 1, "a", k, k + 1) for k in range(40))], words=False)
    for tree, domain, at in (
        (frame(ROWS), DOMAIN, points),
        (wide, DOMAIN, points),
        (many, long, np.arange(40)[:, None]),
    ):
        nodes = nodes_of(tree, domain)
        leaf = nodes.route(at)
        assert (nodes.many[leaf] == 0).all()
        assert ((nodes.lo[leaf] <= at) & (at < nodes.hi[leaf])).all()


@pytest.mark.parametrize(("node", "change"), [
    (0, {"parent": 0}), (3, {"node": 9}), (8, {"parent": 1}), (4, {"depth": 1}),
    (0, {"column": "a"}), (0, {"hi": 8}), (3, {"column": "c"}), (8, {"column": "b"}), (6, {"column": None}),
    (2, {"hi": 4}), (2, {"hi": 2}), (3, {"lo": 2}), (3, {"hi": 7}), (1, {"lo": 1}), (6, {"hi": 7}), (7, {"lo": None}),
])  # fmt: skip
def test_other_trees_are_refused(node: int, change: dict[str, Any]) -> None:
    ((name, value),) = change.items()
    place = ["node", "parent", "depth", "column", "lo", "hi"].index(name)
    rows = [tuple(value if (i, j) == (node, place) else old for j, old in enumerate(row)) for i, row in enumerate(ROWS)]
    nodes_of(frame(ROWS, words=False), DOMAIN)
    with pytest.raises(VerifyError):
        nodes_of(frame(rows, words=False), DOMAIN)


def test_wrong_words_and_single_children_are_refused() -> None:
    with pytest.raises(VerifyError, match="words"):
        nodes_of(frame(ROWS).with_columns(values=pl.col("values").str.replace("5", "6")), DOMAIN)
    with pytest.raises(VerifyError, match="one column"):
        nodes_of(frame([*ROWS, (9, 8, 3, "a", 6, 8)], words=False), DOMAIN)


# ---- releases that name their structure ---------------------------------------------------------------------------


def in_new_form(nodes: Nodes, domain: Domain) -> pl.DataFrame:
    names, count = [one.name for one in domain.attributes], len(nodes.parent)
    spans: list[Any] = [(None, None), *(nodes.span(node) for node in range(1, count))]
    columns = [None, *(names[by] for by in nodes.by[1:])]
    words = [None, *(nodes.name(node, domain).removeprefix(f"{columns[node]} ") for node in range(1, count))]
    return pl.DataFrame({
        "node": np.arange(count), "parent": nodes.parent, "depth": nodes.depth, "column": columns, "values": words,
        "lo": [lo for lo, _ in spans], "hi": [hi for _, hi in spans],
    })  # fmt: skip


def named(release: cantle.Release, **more: Any) -> cantle.Release:
    """The release as if somebody's own class had made it: the manifest names the structure, and has no parameters."""
    structure = {"name": "tree", "version": 1, "bins": 256, "order_seed": None, "values": "uniform"} | more
    domain = domain_of(release.manifest)
    tree = in_new_form(nodes_of(release.frames["tree"], domain), domain)
    changed = with_manifest(
        release, lambda m: m.update(method="mine", structure=structure, parameters={"accuracy_share": "0"})
    )
    return with_parts(changed, frames=release.frames | {"tree": tree})


@pytest.fixture(scope="module")
def made() -> cantle.Release:
    free = {"attributes": "midpoint", "count_share": 0, "oneway_share": 0, "accuracy_share": 0, "values": "uniform"}
    return cantle.publish(people(), SCHEMA, epsilon=5, method="rps", depth=5, insecure_seed=1, **free)


def test_a_release_that_names_its_structure_is_read_without_parameters(made: cantle.Release) -> None:
    release = named(made)
    assert problems(release) == []
    assert tree_lines(release) == tree_lines(made)
    assert release.count("age >= 50") == made.count("age >= 50")
    assert release.sample(50, seed=1).equals(made.sample(50, seed=1))
    assert dict(overview(release))["method"] == "mine"
    assert [title for title, _ in sections(release)] == [title for title, _ in sections(made)]
    assert "region" in release.report()
    assert "mine" in release.statement


@pytest.mark.parametrize(("structure", "words"), [
    ({"name": "forest"}, "the structure 'forest', which this version of cantle cannot read"),
    ({"version": 2}, "the structure 'tree' of version 2, which this version of cantle cannot read"),
    ({"version": "1"}, "structure.version is not a whole number"),
    ({"colour": 3}, "does not know: structure.colour"),
])  # fmt: skip
def test_unknown_structures_are_refused_in_one_sentence(
    made: cantle.Release, structure: dict[str, Any], words: str
) -> None:
    (problem,) = problems(named(made, **structure))
    assert words in problem


def test_a_method_that_names_no_structure_is_refused(made: cantle.Release) -> None:
    (problem,) = problems(with_manifest(made, lambda m: m.update(method="mine")))
    assert "the method 'mine', which this version of cantle cannot read" in problem


def test_sizes_that_a_tree_states_decide_its_estimates(made: cantle.Release) -> None:
    release = named(made)
    total = release.groups["estimate"].sum()
    asked = release.frames["tree"].with_columns(
        pl.when(pl.col("node") == 0).then(pl.lit(value)).alias(name)
        for name, value in {"noisy": round(total) + 40, "rate_num": 100, "rate_den": 1}.items()
    )
    found = problems(with_parts(release, frames={"tree": asked}))
    assert any("estimate" in problem for problem in found)


def test_a_count_that_only_decided_about_own_error_is_no_size_of_the_root() -> None:
    """With count_share=0 the number of records is asked for own error alone, and does not change the estimates."""
    free = {"count_share": 0, "depth": 3, "oneway_share": 0, "values": "uniform"}
    release = cantle.publish(people(4000), SCHEMA, epsilon=5, method="rps", insecure_seed=1, **free)
    assert release.manifest.accuracy is not None
    assert release.manifest.accuracy.bought
    assert problems(release) == []


def test_a_region_that_was_never_asked_about_is_verified() -> None:
    """One category and a declared number of records leave nothing to ask."""
    only = {"name": "kind", "type": "string", "role": "target", "categories": ["a"], "constraints": {"required": True}}
    release = cantle.publish(pl.DataFrame({"kind": ["a", "a"]}), {"fields": [only]}, epsilon=1, method="rps", records=2)
    assert problems(release) == []
