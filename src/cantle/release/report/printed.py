"""The statement of a release as a page to print and sign, made from the release alone."""

from __future__ import annotations

from cantle.release import Release
from cantle.release.report.page import FOLDER, Raw, filled_in, page_policy
from cantle.release.report.statement_blocks import Block, blocks_of
from cantle.release.statement import HASH_LINE


def printable_statement(release: Release) -> str:
    """One HTML file that loads nothing: the statement, with the hash of the release beside the line to sign."""
    style = (FOLDER / "statement.css").read_text(encoding="utf-8")
    signed = release.statement.replace(HASH_LINE, f"{HASH_LINE.rstrip('_')} `{release.manifest.sha256}`")
    title, *chapters = _chapters(blocks_of(signed))
    return filled_in(
        "statement.html.jinja",
        policy=page_policy(style),
        style=Raw(style),
        about=release.manifest.facts.title,
        title=title,
        chapters=chapters,
    )


def _chapters(blocks: list[Block]) -> list[list[Block]]:
    """The blocks from each heading to the next one."""
    chapters: list[list[Block]] = []
    for block in blocks:
        if block.kind == "heading":
            chapters.append([])
        chapters[-1].append(block)
    return chapters
