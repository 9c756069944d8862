"""The hook of hatchling (named in pyproject.toml) that gives packages the README with links that work anywhere.

In the repository, README.md links to other files of it. Whoever reads it elsewhere has only the package, so there the
links lead to the pages of the site that these files become.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)\.md(#[^)\s]*)?\)")


class Readme(MetadataHookInterface):
    """Adds the readme to the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_strangers(text, documentation())}


def documentation() -> str:
    """The address of the site, from pyproject.toml."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Documentation"])


def for_strangers(text: str, site: str) -> str:
    """The text with its links to pages of the repository as links to the site.

    >>> for_strangers("[how](docs/how-to.md#look), [safe](SECURITY.md), [paper](https://example.org)", "https://s")
    '[how](https://s/how-to.html#look), [safe](https://s/security.html), [paper](https://example.org)'
    """
    return LINK.sub(lambda match: f"]({site}/{match[1].removeprefix('docs/').lower()}.html{match[2] or ''})", text)
