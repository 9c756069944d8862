"""The hook of mkdocs (named in mkdocs.yml) that adds to the site what is not in docs/*.md.

It does not depend on mkdocs much, so that another site builder could use it.

* The pages of the repository's top folder (README, SECURITY, …) become pages of the site, under the names in PAGES.
* Links between files of the repository become links between pages; links to other files (sources) become plain text.
  So the same Markdown works on a code host and on the site.
* The page `gallery.md` gets reports that scripts/gallery.py makes during the build. CANTLE_GALLERY_DATA may name a
  folder of public data sets to show as well.
* The page `schema-keys.md` gets tables of the keys in the JSON Schema of schema files, `cantle.schema.json`.
* `llms.txt` lists the pages of the navigation, and each page is also published as Markdown.
* The build fails if a page would load anything from another host.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "index.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "src/cantle/trusted/README.md": "trusted.md",
}
"""The page of the site that each of these files of the repository becomes."""
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"\[([^\[\]]*)\]\((?!\w+:|#)([^)\s#]*)(#[^)\s]*)?\)")
REPORTS, KEYS = "<!-- reports -->", "<!-- schema keys -->"
LOADS = re.compile(r"""<(?:script|img|iframe|link|source)\b[^>]*\b(?:src|srcset|href)=["']?(?:https?:)?//[^>]*>""")
IMPORTS = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)"';]*""")


# ---- what mkdocs calls -----------------------------------------------------------------------------------------------


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the top folder and the reports of the gallery."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for report in gallery():
        files.append(File.generated(config, f"gallery/{report.name}.html", content=report.html))
    files.append(File.generated(config, "cantle.schema.json", content=json.dumps(schema_of_schemas(), indent=2)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turns links between files into links between pages, and fills in reports and keys."""
    markdown = linked(markdown, source_of(page.file.src_uri))
    rows = [f"* [{report.title}](gallery/{report.name}.html): {report.release}" for report in gallery()]
    return markdown.replace(REPORTS, "\n".join(rows)).replace(KEYS, tables_of_keys(schema_of_schemas()))


def on_post_page(output: str, **_: object) -> str:
    """Gives the theme's search box a name for screen readers."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)


def on_post_build(config: MkDocsConfig) -> None:
    """Writes llms.txt and the pages as Markdown, in addition to HTML; fails if a page loads from other hosts."""
    from mkdocs.exceptions import PluginError

    site = Path(config.site_dir)
    (site / "llms.txt").write_text(llms(config.site_name, config.site_description, config.nav), encoding="utf-8")
    for _, _, page in pages_of(config.nav):
        (site / page).write_text(linked(text_of(page), source_of(page)), encoding="utf-8")
    if loads := list(foreign_loads(site)):
        raise PluginError("the site must not load anything from other hosts:\n" + "\n".join(loads))


# ---- pages and links -------------------------------------------------------------------------------------------------


def source_of(page: str) -> str:
    """The file in the repository that a page of the site is made from."""
    return SOURCES.get(page, f"docs/{page}")


def text_of(page: str) -> str:
    """The Markdown of a page."""
    return (ROOT / source_of(page)).read_text(encoding="utf-8")


def linked(markdown: str, source: str) -> str:
    """The text of a file of the repository, with its links changed to what the site needs."""

    def replaced(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        page = PAGES.get(file, file.removeprefix("docs/"))
        is_page = file in PAGES or file.startswith("docs/")
        return f"[{text}]({page}{anchor})" if is_page else text

    return LINK.sub(replaced, markdown)


def pages_of(nav: list[Any], section: str = "") -> Iterator[tuple[str, str, str]]:
    """(section, title, page) of each page of the navigation, in its order."""
    for entry in nav:
        ((title, value),) = entry.items()
        if isinstance(value, str):
            yield section, title, value
        else:
            yield from pages_of(value, title)


def llms(name: str, description: str, nav: list[Any]) -> str:
    """The text of llms.txt: the pages by section, each with its first sentence."""
    lines, before = [f"# {name}", "", f"> {description}"], None
    for section, title, page in pages_of(nav):
        if section != before:
            lines += ["", f"## {section or 'Overview'}", ""]
            before = section
        lines.append(f"- [{title}]({page}): {first_sentence(text_of(page))}")
    return "\n".join(lines) + "\n"


def first_sentence(markdown: str) -> str:
    """The first sentence below a page's title, without Markdown marks."""
    blocks = [block for block in markdown.split("\n\n") if not block.startswith(("#", "|", "```", "<", "*cantle (n.)"))]
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(blocks[0].split()))
    return re.split(r"(?<=[.:])\s", re.sub(r"[*`]", "", text))[0].rstrip(":.") + "."


def foreign_loads(site: Path) -> Iterator[str]:
    """What pages and styles would load from other hosts; links that a reader may click do not count."""
    for ending, pattern in ((".html", LOADS), (".html", IMPORTS), (".css", IMPORTS)):
        for path in sorted(site.rglob(f"*{ending}")):
            yield from (f"{path.name}: {match[0]}" for match in pattern.finditer(path.read_text(encoding="utf-8")))


# ---- keys of schemas -------------------------------------------------------------------------------------------------


def schema_of_schemas() -> dict[str, Any]:
    """The JSON Schema of schema files."""
    from cantle.schema.json_schema import json_schema

    return json_schema()


def tables_of_keys(schema: dict[str, Any]) -> str:
    """The keys of every kind of data, and of fields, that have a description, as one Markdown table for each."""
    parts = schema["definitions"]
    field, table = parts["field"]["properties"], parts["table"]["properties"]
    titled = {
        "A table": table,
        "A field of a table": field,
        "Constraints of a field": field["constraints"]["properties"],
        "The dialect of a CSV file": table["dialect"]["properties"],
        "Sets of items": parts["sets"]["properties"],
        "Sequences": parts["sequences"]["properties"],
        "A graph": parts["graph"]["properties"],
    }
    lines = []
    for title, keys in titled.items():
        described = {key: part for key, part in keys.items() if "description" in part}
        lines += [f"## {title}", "", "| key | value | meaning |", "|---|---|---|"]
        lines += [f"| `{key}` | {values_of(part)} | {part['description']} |" for key, part in described.items()]
        lines.append("")
    return "\n".join(lines)


def values_of(part: dict[str, Any]) -> str:
    """The values that a part of a JSON Schema allows, in a few words."""
    if "anyOf" in part:
        return ", ".join(dict.fromkeys(values_of(one) for one in part["anyOf"]))
    if "enum" in part:
        return ", ".join(f"`{json.dumps(value)}`".replace('"', "") for value in part["enum"])
    names = {
        "array": "list",
        "object": "mapping",
        "string": "text",
        "boolean": "true or false",
        "integer": "whole number",
    }
    types = part.get("type", "any value")
    return ", ".join(names.get(one, one) for one in ([types] if isinstance(types, str) else types))


# ---- the gallery -----------------------------------------------------------------------------------------------------


@cache
def gallery() -> list[Any]:
    """The reports of the gallery, which are made once per build."""
    data = os.environ.get("CANTLE_GALLERY_DATA")
    reports = runpy.run_path(str(ROOT / "scripts/gallery.py"))["reports"]
    return list(reports(Path(data) if data else None))
