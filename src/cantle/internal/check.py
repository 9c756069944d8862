"""`cantle check`: what a schema does to a file, before any budget is spent. It reads the file as `publish` would."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from cantle.errors import ParameterError
from cantle.internal.findings import Checked, percent
from cantle.internal.kinds import kind_for
from cantle.schema import Schema, as_schema

_MOST_NAMED = 10
"""Most problems that the conclusion names."""


def check(
    data: object, schema: Schema | Mapping[str, object] | str | os.PathLike[str], nodes: Path | None = None
) -> Checked:
    """What a schema does to the data, before anything is published or spent. INTERNAL: the result shows private facts.

    Parameters
    ----------
    data : path or data frame
        The private data: a file, or for tables a data frame too.
    schema : Schema, dict or path
        What is public about the data.
    nodes : path, optional
        The private list of a graph's nodes.

    Returns
    -------
    Checked
        `print` shows what would be changed or lost in each column, and lines of the schema that would read more.

    Examples
    --------
    >>> import polars as pl
    >>> schema = {"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]}
    >>> checked = check(pl.DataFrame({"sex": ["F", "M", "f", "n/a"]}), schema)
    >>> checked.read, checked.worst()[0], checked
    (4, 0.5, Checked(private; print it to read it))
    """
    public = as_schema(schema)
    kind = kind_for(public.kind, nodes)
    return kind.check(kind.source(data), public, nodes)


def limit_of(text: str) -> float:
    """The share in a text, which is in percent or a number from 0 to 1.

    >>> limit_of("5%"), limit_of("0.02"), limit_of("12.5 %")
    (0.05, 0.02, 0.125)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*", text)
    share = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if not 0 <= share <= 1:
        raise ParameterError(f"--limit takes a share from 0% to 100%, got {text!r}; for example --limit 5%")
    return share


def conclusion(checked: Checked, limit: float) -> tuple[bool, str]:
    """Whether all problems are within the limit, and a sentence that says so."""
    above = checked.above(limit)
    if above:
        more = f"; and {len(above) - _MOST_NAMED} more" if len(above) > _MOST_NAMED else ""
        return False, f"above the limit of {percent(limit)}: {'; '.join(above[:_MOST_NAMED])}{more}"
    return True, f"nothing is above the limit of {percent(limit)}"
