"""Drafts of schemas, for `cantle init`: commented YAML with explicit blanks for what only people can know.

Without `infer` only the header and the declared column types are read, never a value. A CSV file does not say whether
its first line is a header or a record, so the caller must say it; from a file without a header only the number of
fields in its first line is used. With `infer` the blanks are filled from the private values; the schema, and releases
made with it, are then marked as having no guarantee.
"""

from __future__ import annotations

from cantle.data.draft_schema.tables import draft as draft
