"""The JSON Schema of schema files, with which editors complete and check them while people type.

It is the document schema_keys.yaml: a text and the allowed values for every key that the parsers accept; a test
compares both. It accepts whatever cantle accepts, and refuses blanks and most errors. Some errors cannot be described
in a JSON Schema (a minimum above its maximum, a category listed twice with different spellings, a file that does not
exist); `cantle check`, `plan` and `publish` report these.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from cantle.schema.canonical_json import JSON

FILE_NAME = "cantle.schema.json"
"""The name of a copy beside a draft; the draft's first line refers to it, so that editors need no network."""
EDITOR_LINE = f"# yaml-language-server: $schema={FILE_NAME}\n"


def json_schema() -> dict[str, JSON]:
    """The JSON Schema (draft 7, which all editors support) of schemas of every kind of data."""
    text = (Path(__file__).parent / "schema_keys.yaml").read_text(encoding="utf-8")
    schema: dict[str, JSON] = yaml.safe_load(text)["schema"]
    return schema
