"""The taxonomy: every node is a span, children partition their node, and nested lists are read and written back."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError, SchemaError
from cantle.schema.taxonomy import MAX_DEPTH, Taxonomy
from tests.effort import examples

JOB = {"Any": [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer"]}]}


@st.composite
def nested_trees(draw: st.DrawFn) -> Any:
    """Nested lists with distinct names for some groups, including chains and groups of one."""
    shape = draw(st.recursive(st.none(), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=25))
    shape = shape if isinstance(shape, list) else [shape]
    count = iter(range(10_000))

    def tree(node: Any) -> Any:
        if node is None:
            number = next(count)
            return draw(st.sampled_from([number, f"v{number}"]))
        kids = [tree(one) for one in node]
        return {f"g{next(count)}": kids} if draw(st.booleans()) else kids

    return tree(shape)


def written_leaves(nested: Any) -> list[Any]:
    if isinstance(nested, dict):
        return [leaf for kids in nested.values() for leaf in written_leaves(kids)]
    return [leaf for kid in nested for leaf in written_leaves(kid)] if isinstance(nested, list) else [nested]


def written_groups(nested: Any) -> set[frozenset[Any]]:
    """The leaves of every group, as sets."""
    if not isinstance(nested, list | dict):
        return set()
    kids = [kid for part in nested.values() for kid in part] if isinstance(nested, dict) else nested
    return {frozenset(written_leaves(nested))}.union(*map(written_groups, kids))


def all_nodes(taxonomy: Taxonomy) -> list[tuple[int, int]]:
    nodes = [taxonomy.root]
    for span in nodes:
        nodes.extend(taxonomy.children(*span))
    return nodes


balanced = st.builds(Taxonomy.balanced, st.integers(1, 60).map(range), st.integers(2, 9))
taxonomies = st.one_of(nested_trees().map(Taxonomy.from_nested), balanced)


@examples(12)
@given(taxonomies)
def test_a_taxonomy_has_its_own_spans_only(taxonomy: Taxonomy) -> None:
    ends = range(-1, len(taxonomy.leaves) + 2)
    assert {(lo, hi) for lo in ends for hi in ends if taxonomy.has(lo, hi)} == set(all_nodes(taxonomy))


# ------------------------------------------------------------------------------------------------- laws


@examples(12)
@given(nested_trees())
def test_leaves_and_groups_are_those_of_the_nested_list(nested: Any) -> None:
    taxonomy = Taxonomy.from_nested(nested)
    assert list(taxonomy.leaves) == written_leaves(nested)
    spans = {frozenset(taxonomy.leaves[lo:hi]) for lo, hi in all_nodes(taxonomy) if hi - lo > 1}
    assert spans == {group for group in written_groups(nested) if len(group) > 1}


@examples(12)
@given(taxonomies)
def test_nested_form_round_trips_through_json(taxonomy: Taxonomy) -> None:
    again = Taxonomy.from_nested(json.loads(json.dumps(taxonomy.to_nested())))
    assert again == taxonomy
    assert hash(again) == hash(taxonomy)
    assert again.to_nested() == taxonomy.to_nested()
    assert pickle.loads(pickle.dumps(taxonomy)) == taxonomy


@examples(12)
@given(taxonomies)
def test_children_partition_their_node(taxonomy: Taxonomy) -> None:
    nodes = all_nodes(taxonomy)
    assert len(set(nodes)) == len(nodes)
    for lo, hi in nodes:
        parts = taxonomy.children(lo, hi)
        assert len(parts) != 1
        assert (parts == ()) == (hi - lo == 1)
        if parts:
            assert [part[0] for part in parts] + [hi] == [lo] + [part[1] for part in parts]
            assert all(start < end for start, end in parts)


@examples(12)
@given(taxonomies)
def test_counts_of_nodes_agree_with_a_walk_through_the_tree(taxonomy: Taxonomy) -> None:
    nodes = all_nodes(taxonomy)
    groups = sum(hi - lo > 1 for lo, hi in nodes)
    assert repr(taxonomy) == f"Taxonomy({len(taxonomy.leaves)} leaves, {groups} groups)"
    assert len(list(taxonomy.preview(10_000))) == len(nodes)
    assert len(nodes) < 2 or [*taxonomy.preview(1)][-1] == f"… {len(nodes) - 1} more"


@examples(12)
@given(taxonomies)
def test_a_path_leads_from_the_root_to_the_leaf(taxonomy: Taxonomy) -> None:
    for code in range(len(taxonomy.leaves)):
        path = list(taxonomy.path(code))
        assert path[0] == taxonomy.root
        assert path[-1] == (code, code + 1)
        assert all(inner in taxonomy.children(*outer) for outer, inner in zip(path, path[1:], strict=False))


@examples(12)
@given(taxonomies)
def test_spans_that_are_no_node_are_refused(taxonomy: Taxonomy) -> None:
    nodes, n = set(all_nodes(taxonomy)), len(taxonomy.leaves)
    for lo in range(-1, n + 1):
        for hi in range(lo, n + 2):
            if (lo, hi) not in nodes:
                with pytest.raises(ParameterError, match="not a node"):
                    taxonomy.children(lo, hi)


# ------------------------------------------------------------------------------------------------- shapes


def test_names_of_nodes_and_their_spans() -> None:
    job = Taxonomy.from_nested(JOB)
    assert job.root == (0, 4)
    assert job.children(0, 4) == ((0, 2), (2, 4))
    assert [job.name(*span) for span in ((0, 4), (0, 2), (3, 4))] == ["Any", "Professional", "Writer"]
    assert job.to_nested() == JOB
    assert repr(job) == "Taxonomy(4 leaves, 3 groups)"


def test_three_ways_of_writing_have_the_same_spans() -> None:
    lists, named = (
        [["Engineer", "Lawyer"], ["Dancer", "Writer"]],
        {"P": ["Engineer", "Lawyer"], "A": ["Dancer", "Writer"]},
    )
    for nested in (lists, named, JOB):
        assert Taxonomy.from_nested(nested).children(0, 4) == ((0, 2), (2, 4))


@pytest.mark.parametrize(
    ("nested", "name"),
    [
        ({"World": [{"Europe": ["a", "b"]}]}, "Europe"),  # the most specific name of a chain
        ({"Europe": [["a", "b"]]}, "Europe"),
        ([{"Europe": ["a", "b"]}], "Europe"),
        ({"Europe": [{"*": ["a", "b"]}]}, "Europe"),
        ({"*": [{"Europe": ["a", "b"]}]}, "Europe"),
        ({"*": ["a", "b"]}, "*"),
        (["a", "b"], "a | b"),
        (list("abcdef"), "a … f (6 values)"),
    ],
)
def test_the_name_of_the_root(nested: Any, name: str) -> None:
    taxonomy = Taxonomy.from_nested(nested)
    assert taxonomy.name(*taxonomy.root) == name


def test_a_leaf_keeps_its_label_and_a_name_may_repeat_one_level_down() -> None:
    taxonomy = Taxonomy.from_nested({"*": [{"Single": ["x"]}, {"Other": ["Other", "y"]}, {"Z": [{"Z": ["Z"]}]}]})
    assert taxonomy.to_nested() == {"*": ["x", {"Other": ["Other", "y"]}, "Z"]}


def test_default_flat_and_balanced_taxonomies() -> None:
    assert Taxonomy.default("abcde") == Taxonomy.flat("abcde") == Taxonomy.from_nested(list("abcde"))
    assert Taxonomy.default("abcdef").children(0, 6) == ((0, 3), (3, 6))
    assert Taxonomy.flat("abc").children(0, 3) == ((0, 1), (1, 2), (2, 3))
    assert Taxonomy.balanced(range(10), 4).children(0, 10) == ((0, 2), (2, 5), (5, 7), (7, 10))
    assert Taxonomy.balanced("ab", 9) == Taxonomy.flat("ab")
    assert Taxonomy.flat([7]).children(0, 1) == ()
    assert repr(Taxonomy.flat([7])) == "Taxonomy(1 leaves, 0 groups)"
    assert Taxonomy.flat([True, False]).name(0, 2) == "true | false"


@pytest.mark.parametrize(("leaves", "fanout"), [("", 2), ("ab", 1), ("ab", True), ("ab", 2.0), ("aba", 2)])
def test_a_balanced_taxonomy_refuses_wrong_arguments(leaves: str, fanout: Any) -> None:
    with pytest.raises(ParameterError):
        Taxonomy.balanced(leaves, fanout)


def test_a_group_with_the_name_of_a_rule_round_trips() -> None:
    for name in ("fanout", "bands", "leaves"):
        taxonomy = Taxonomy.from_nested([{name: ["a", "b"]}])
        assert taxonomy.name(0, 2) == name
        assert Taxonomy.from_nested(taxonomy.to_nested()) == taxonomy


def test_the_preview_of_a_tree() -> None:
    assert list(Taxonomy.from_nested(JOB).preview()) == [
        "Any",
        "├─ Professional",
        "│  ├─ Engineer",
        "│  └─ Lawyer",
        "└─ Artist",
        "   ├─ Dancer",
        "   └─ Writer",
    ]
    assert list(Taxonomy.from_nested(JOB).preview(2)) == ["Any", "├─ Professional", "… 5 more"]
    assert (
        list(Taxonomy.flat(["a\n\x1b[31m", "b"]).preview())[1]
        == "├─ a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[31m"
    )


def test_many_values_make_a_tree_of_few_levels() -> None:
    labels = [f"code {k}" for k in range(100_000)]
    taxonomy = Taxonomy.balanced(labels, 2)
    node, steps = taxonomy.root, 0
    while node[1] - node[0] > 1:
        node = taxonomy.children(*node)[steps % 2]
        steps += 1
    assert steps in (16, 17)
    assert repr(taxonomy) == "Taxonomy(100000 leaves, 99999 groups)"
    assert len(list(taxonomy.preview())) == 41
    assert taxonomy.name(*node) == labels[node[0]]


# ------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("nested", "rule"),
    [
        (["a", ["b", "a"]], "'a' is a leaf twice"),
        ({"A": ["b"], "B": [{"A": ["c"]}]}, "'A' stands in two places, .* under 'B'"),
        ({"A": ["b", "B"], "B": ["c", "d"]}, "'B' stands in two places"),
        ({"A": [{"B": [{"A": ["c"]}]}]}, "cycle: 'A' > 'B' > 'A'"),
        ({"A": [{"B": ["A", "c"]}]}, "cycle: 'A' > 'B' > 'A'"),
        ({"A": [], "B": ["b"]}, "group 'A' is empty"),
        ({"A": None}, "group 'A' is empty"),
        (["a", []], "a group is empty"),
        (["a", {}], "a group is empty"),
        ({"A": "a"}, "'A' has 'a' in place of a list"),
        ([], "no values"),
        ({}, "empty"),
        (["a", None], "None is not text"),
        (["a", 1.5], "1.5 is not text"),
        ([10**5000], "more than 64 bits"),
        ({1.5: ["a"]}, "1.5 is not text"),
        (7, "not a nested list"),
        ({"fanout": 1, "leaves": ["a", "b"]}, "fan-out"),
        ({"fanout": 2, "leaves": ["a", "a"]}, "twice"),
        ({"fanout": 2, "leaves": [["a"]]}, "not text"),
        ({"fanout": 2, "leaves": "ab"}, "in place of a list"),
    ],
)
def test_wrong_nested_lists_are_refused(nested: Any, rule: str) -> None:
    with pytest.raises(SchemaError, match=rule):
        Taxonomy.from_nested(nested)


def test_hostile_nesting_is_refused() -> None:
    deep: Any = ["a"]
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(SchemaError, match=f"more than {MAX_DEPTH} levels"):
        Taxonomy.from_nested(deep)
    around: Any = []
    around.append(around)
    with pytest.raises(SchemaError, match=f"more than {MAX_DEPTH} levels"):
        Taxonomy.from_nested(around)
    named: Any = {}
    named["A"] = named
    with pytest.raises(SchemaError, match=f"more than {MAX_DEPTH} levels"):
        Taxonomy.from_nested(named)
    laughs: Any = ["ha"]
    for _ in range(60):
        laughs = [laughs, laughs]
    with pytest.raises(SchemaError, match="twice"):
        Taxonomy.from_nested(laughs)


def test_the_deepest_tree_works() -> None:
    nested: Any = ["a", "b"]
    for k in range(MAX_DEPTH - 2):
        nested = [nested, k]
    taxonomy = Taxonomy.from_nested(nested)
    assert max(len(list(taxonomy.path(code))) for code in range(len(taxonomy.leaves))) == MAX_DEPTH
    assert Taxonomy.from_nested(taxonomy.to_nested()) == taxonomy
    assert len(list(taxonomy.preview(10**6))) == 2 * MAX_DEPTH - 1
