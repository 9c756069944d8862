"""A hierarchy as people type it: one name per line, with the members of a group indented below its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cantle.errors import SchemaError
from cantle.interfaces.studio.yaml_text import flow
from cantle.schema.documents import parse_document

_STEP = "  "


def outline_of(hierarchy: object) -> str:
    """The text of a hierarchy; one with groups that have no name stays a nested list.

    >>> print(outline_of({"North": ["Oslo", "Rome"], "South": ["Lima"]}))
    North
      Oslo
      Rome
    South
      Lima
    """
    try:
        return "\n".join(_lines(hierarchy, 0))
    except ValueError:
        return flow(hierarchy)


def _lines(group: object, depth: int) -> list[str]:
    lines = []
    for item in [group] if isinstance(group, Mapping) else group if isinstance(group, list) else []:
        if isinstance(item, Mapping):
            for name, inside in item.items():
                lines += [_line(name, depth), *_lines(inside, depth + 1)]
        else:
            lines.append(_line(item, depth))
    return lines


def _line(name: object, depth: int) -> str:
    text = str(name).lower() if isinstance(name, bool) else name
    if not isinstance(text, str | int) or str(text) != str(text).strip() or not str(text) or "\n" in str(text):
        raise ValueError
    if str(text)[0] in "[{":
        raise ValueError
    return f"{_STEP * depth}{text}"


def hierarchy_of(text: str) -> object:
    """The hierarchy in a text: an outline, or nested lists in YAML.

    >>> hierarchy_of("North\\n  Oslo\\n  Rome\\nLima")
    [{'North': ['Oslo', 'Rome']}, 'Lima']
    """
    if text.lstrip()[:1] in ("[", "{"):
        return parse_document(text, "hierarchy", is_json=False)
    top: list[object] = []
    open_groups: list[tuple[int, list[object]]] = [(-1, top)]
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.expandtabs(4).split("\n") if line.strip()]
    for number, (indent, name) in enumerate(lines):
        while open_groups[-1][0] >= indent:
            open_groups.pop()
        if number + 1 < len(lines) and lines[number + 1][0] > indent:
            inside: list[object] = []
            open_groups[-1][1].append({name: inside})
            open_groups.append((indent, inside))
        else:
            open_groups[-1][1].append(name)
        if len(open_groups) > 100:
            raise SchemaError("hierarchy: it is nested more than 100 levels deep; make it flatter.")
    return top


Node = tuple[str, list["Node"]]


def tree_of(hierarchy: object, most: int = 400) -> list[Node]:
    """Names and what is below them, for a drawing; at most `most` nodes."""
    left = [most]

    def below(group: object) -> list[Node]:
        nodes: list[Node] = []
        items: Sequence[object] = [group] if isinstance(group, Mapping) else group if isinstance(group, list) else []
        for item in items:
            pairs = (
                item.items() if isinstance(item, Mapping) else [("(a group)" if isinstance(item, list) else item, item)]
            )
            for name, inside in pairs:
                if left[0] <= 0:
                    return nodes
                left[0] -= 1
                nodes.append((str(name), below(inside) if isinstance(inside, list | Mapping) else []))
        return nodes

    return below(hierarchy)
