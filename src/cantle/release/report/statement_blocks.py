"""The statement of a release as blocks for a page: headings, paragraphs, lists, tables and quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

Span = tuple[str, str]
"""(kind, text): kind is empty, `strong` or `code`."""


@dataclass(frozen=True)
class Block:
    """A part of the statement; which fields are filled depends on its kind: heading, paragraph, list, table, quote."""

    kind: str
    spans: Sequence[Span] = ()
    items: Sequence[Sequence[Span]] = ()
    header: Sequence[Sequence[Span]] = ()
    rows: Sequence[Sequence[Sequence[Span]]] = field(default=())


def blocks_of(markdown: str) -> list[Block]:
    """The blocks of the text that `cantle.release.statement` makes.

    >>> [block.kind for block in blocks_of("# A\\n\\ntext **b**\\n\\n* x\\n* y\\n\\n| a |\\n|---|\\n| 1 |\\n")]
    ['heading', 'paragraph', 'list', 'table']
    """
    blocks = []
    for part in re.split(r"\n\s*\n", markdown.strip()):
        lines = part.split("\n")
        if lines[0].startswith("#"):
            blocks.append(Block("heading", spans=spans_of(lines[0].lstrip("# "))))
            lines = lines[1:]
        if not lines:
            continue
        if lines[0].startswith("|"):
            blocks.append(_table(lines))
        elif lines[0].startswith("* "):
            joined = re.split(r"\n\* ", "\n" + "\n".join(lines))[1:]
            blocks.append(Block("list", items=[spans_of(" ".join(item.split())) for item in joined]))
        else:
            kind = "quote" if lines[0].startswith("> ") else "paragraph"
            blocks.append(Block(kind, spans=spans_of(" ".join(" ".join(lines).removeprefix("> ").split()))))
    return blocks


def _table(lines: Sequence[str]) -> Block:
    cells = [[spans_of(cell.strip()) for cell in line.strip().strip("|").split(" | ")] for line in lines]
    return Block("table", header=cells[0], rows=cells[2:])


def spans_of(text: str) -> list[Span]:
    """The text with its parts in bold or code marked.

    >>> spans_of("a **b** `c`")
    [('', 'a '), ('strong', 'b'), ('', ' '), ('code', 'c')]
    """
    spans = []
    for part in re.split(r"(\*\*.+?\*\*|`[^`]+`)", text):
        if part.startswith("**") and len(part) > 4:
            spans.append(("strong", part[2:-2]))
        elif part.startswith("`") and len(part) > 2:
            spans.append(("code", part[1:-1]))
        elif part:
            spans.append(("", part))
    return spans
