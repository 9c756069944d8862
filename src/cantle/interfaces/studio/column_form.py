"""One column as a form: converts its schema entry to texts in boxes, and back. Keys without a box are kept.

A hierarchy is typed as an outline: one name per line, with the members of a group indented below its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from cantle.data.draft_schema.tables import flow
from cantle.errors import SchemaError
from cantle.schema.declared_values import BLANK
from cantle.schema.documents import parse_document

TYPES = ("integer", "number", "string", "boolean", "date", "datetime", "geopoint", "list")
ROLES = ("", "target", "weight", "identifier")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_GRID = ("integer", "number", "date", "datetime")

Entry = dict[str, object]
Texts = dict[str, str]


def form_of(entry: Mapping[str, object]) -> Texts:
    """The texts in the boxes of a column."""
    bounds = entry.get("constraints")
    bounds = bounds if isinstance(bounds, Mapping) else {}
    listed, tree = entry.get("categories", bounds.get("enum")), entry.get("hierarchy")
    boxes = {
        "name": entry.get("name"),
        "type": entry.get("type"),
        "role": entry.get("role"),
        "decimalChar": entry.get("decimalChar"),
        "groupChar": entry.get("groupChar"),
        "minimum": bounds.get("minimum"),
        "maximum": bounds.get("maximum"),
        "step": entry.get("step", bounds.get("step")),
        "multipleOf": bounds.get("multipleOf"),
        "unknown": entry.get("unknown"),
        "hierarchy_file": tree if isinstance(tree, str) else None,
    }
    texts = {name: _shown(value) for name, value in boxes.items()}
    formats = entry.get("format")
    texts["format"] = " | ".join(map(_shown, formats)) if isinstance(formats, list) else _shown(formats)
    texts["units"] = "yes" if entry.get("bareNumber") is False else ""
    texts["categories"] = "\n".join(map(_line, listed)) if isinstance(listed, list) else _shown(listed)
    texts["hierarchy"] = outline_of(tree) if isinstance(tree, list | Mapping) else ""
    texts["ordered"] = "yes" if entry.get("categoriesOrdered") is True else ""
    texts["required"] = "yes" if bounds.get("required") is True else ""
    return texts


def entry_of(form: Mapping[str, str], before: Mapping[str, object]) -> Entry:
    """The schema entry that a form describes; values that the person did not change are kept exactly.

    `before` is the entry that the form showed.
    """
    kind, role = form.get("type", ""), form.get("role", "")
    shown = form_of(before)
    entry: Entry = {key: value for key, value in before.items() if key not in _BOXES}
    entry = {"name": form.get("name") or before.get("name"), **entry}
    if role == "identifier":
        if kind:
            entry["type"] = kind
        return _ordered(entry | {"role": role})
    entry["type"] = kind or BLANK
    if role:
        entry["role"] = role
    old = before.get("constraints")
    kept = {k: v for k, v in old.items() if k not in _CONSTRAINTS} if isinstance(old, Mapping) else {}
    constraints: Entry = dict(kept)
    was = {**(old if isinstance(old, Mapping) else {}), **before}

    def value(key: str) -> object:
        """The typed value; if the text did not change, exactly the value that was there."""
        same = before.get("type") == kind and form.get(key) == shown[key] and key in was
        return was[key] if same else _scalar(form.get(key, ""), kind)

    has_list = kind == "string" or (kind == "integer" and bool(form.get("categories", "").strip()))
    if kind in _GRID and not has_list:
        constraints |= {key: value(key) for key in ("minimum", "maximum")}
        if form.get("multipleOf"):
            constraints["multipleOf"] = value("multipleOf")
        if form.get("step") or (kind in ("number", "datetime") and not form.get("multipleOf")):
            entry["step"] = value("step")
    if kind == "geopoint":  # its bounds are written in the text of the schema
        entry |= {"bounds": before.get("bounds", BLANK), "step": before.get("step", BLANK)}
        entry |= {key: before[key] for key in ("format",) if key in before}
    if kind == "list":  # so are its items
        entry |= {"items": before.get("items", BLANK)} | {key: before[key] for key in ("unknown",) if key in before}
    if kind in ("integer", "number") and not has_list:
        entry |= _number_form(form, before, shown)
    if kind in ("date", "datetime") and form.get("format"):
        same = form["format"] == shown["format"]
        entry["format"] = before["format"] if same else _formats(form["format"])
    if has_list:
        entry |= _categories(form, before, shown, kind)
    if form.get("required"):
        constraints["required"] = True
    if constraints:
        entry["constraints"] = constraints
    return _ordered(entry)


_BOXES = {"name", "type", "role", "format", "constraints", "step", "unknown", "categories", "categoriesOrdered"}
_BOXES |= {"hierarchy", "decimalChar", "groupChar", "bareNumber"}
_CONSTRAINTS = {"minimum", "maximum", "required", "enum", "step", "multipleOf"}


def _formats(text: str) -> object:
    """One format of dates, or a list of those between bars."""
    every = [one.strip() for one in text.split("|") if one.strip()]
    return every[0] if len(every) == 1 else every


def _number_form(form: Mapping[str, str], before: Mapping[str, object], shown: Texts) -> Entry:
    """How numbers are written: their signs, and whether something stands around them."""
    keys: Entry = {key: form[key] for key in ("decimalChar", "groupChar") if form.get(key)}
    if form.get("units"):
        keys["bareNumber"] = False
    boxes = {"decimalChar": "decimalChar", "groupChar": "groupChar", "bareNumber": "units"}
    kept = {key for key, box in boxes.items() if key in before and form.get(box, "") == shown[box]}
    return keys | {key: before[key] for key in kept}


def _line(category: object) -> str:
    """A category as one line of a form: `1 = male` if it has a label, which may be typed and pasted so too."""
    if isinstance(category, Mapping):
        label = category.get("label")
        return _shown(category.get("value")) + (f" = {label}" if label else "")
    return _shown(category)


def _category(line: str, kind: str, plain: set[str]) -> object:
    """The category on a line of a form, with its label; `plain` are categories that have none, whatever they hold."""
    value, equals, label = line.partition(" = ")
    if equals and value.strip() and label.strip() and line not in plain:
        return {"value": _category(value.strip(), kind, plain), "label": label.strip()}
    return _scalar(line, kind) if kind == "integer" else line


def _categories(form: Mapping[str, str], before: Mapping[str, object], shown: Texts, kind: str) -> Entry:
    """The keys about categories: their list, order and hierarchy, and what becomes of other values."""
    keys: Entry = {}
    text = form.get("categories", "")
    if text == shown["categories"] and isinstance(before.get("categories"), list) and before.get("type") == kind:
        keys["categories"] = before["categories"]
    else:
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        listed = before.get("categories")
        plain = {one for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()
        keys["categories"] = [_category(line, kind, plain) for line in lines] or BLANK
        if not lines and (form.get("hierarchy_file") or form.get("hierarchy", "").strip()):
            del keys["categories"]  # the hierarchy lists them
    if form.get("ordered"):
        keys["categoriesOrdered"] = True
    if form.get("hierarchy_file"):
        keys["hierarchy"] = form["hierarchy_file"]
    elif form.get("hierarchy", "").strip():
        same = form["hierarchy"] == shown["hierarchy"]
        keys["hierarchy"] = before["hierarchy"] if same else hierarchy_of(form["hierarchy"])
    unknown = form.get("unknown", "")
    if unknown and unknown != "null":
        keys["unknown"] = _scalar(unknown, kind) if kind == "integer" and unknown != "drop" else unknown
    return keys


def _ordered(entry: Entry) -> Entry:
    """The entry with its keys in the order in which people read them."""
    first = ["name", "type", "role", "step", "format", "decimalChar", "groupChar", "bareNumber", "constraints"]
    first += ["categories", "categoriesOrdered", "unknown"]
    return {key: entry[key] for key in [*first, *entry] if key in entry}


def _shown(value: object) -> str:
    if value is None or value == BLANK:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scalar(text: str, kind: str) -> object:
    """The number in a text if JSON holds it exactly, otherwise the text; BLANK if the text is empty."""
    text = text.strip()
    if not text:
        return BLANK
    if kind in ("integer", "number") and _NUMBER.fullmatch(text):
        with suppress(ValueError):
            number = json.loads(text)
            return number if json.dumps(number) == text or isinstance(number, int) else text
    return text


def summary_of(entry: Mapping[str, object]) -> str:
    """A column in a few words: its bounds, or how many categories it has."""
    boxes = form_of(entry)
    if boxes["role"] == "identifier":
        return "never read"
    listed = entry.get("categories")
    if isinstance(listed, list):
        tree = ", hierarchy" if entry.get("hierarchy") is not None else ""
        order = ", ordered" if boxes["ordered"] else ""
        return f"{len(listed):,} {'category' if len(listed) == 1 else 'categories'}{order}{tree}"
    if entry.get("hierarchy") is not None:
        return "categories of its hierarchy"
    if isinstance(items := entry.get("items"), list):
        return f"lists of {len(items)} items"
    if boxes["minimum"] or boxes["maximum"]:
        step = f" in steps of {boxes['step']}" if boxes["step"] else ""
        step += f", multiples of {boxes['multipleOf']}" if boxes["multipleOf"] else ""
        return f"{boxes['minimum'] or '?'} to {boxes['maximum'] or '?'}{step}"
    return ""


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


def _members(group: object) -> Iterator[tuple[object, object]]:
    """The names in a hierarchy, each with what is below it; the name of a list inside a list is None."""
    for item in [group] if isinstance(group, Mapping) else group if isinstance(group, list) else []:
        if isinstance(item, Mapping):
            yield from item.items()
        else:
            yield (None, item) if isinstance(item, list) else (item, None)


def _lines(group: object, depth: int) -> list[str]:
    lines = []
    for name, inside in _members(group):
        lines += [_outline_line(name, depth), *_lines(inside, depth + 1)]
    return lines


def _outline_line(name: object, depth: int) -> str:
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
        for name, inside in _members(group):
            if left[0] <= 0:
                break
            left[0] -= 1
            nodes.append(("(a group)" if name is None else str(name), below(inside)))
        return nodes

    return below(hierarchy)
