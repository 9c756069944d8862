"""What a schema does to a file (`cantle check`), and how a release compares with its data (`cantle evaluate`).

Both read the data as `publish` would; the results are private.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cantle.errors import ParameterError
from cantle.internal.check_tables import check_table
from cantle.internal.compare_tables import compare_table
from cantle.internal.comparison import Comparison
from cantle.internal.families import check_families, compare_families
from cantle.internal.findings import Checked, percent
from cantle.internal.graphs import check_graph, compare_graph
from cantle.internal.sets import check_sequences, check_sets, compare_sequences, compare_sets
from cantle.release import Release
from cantle.schema import Schema, as_schema


@dataclass(frozen=True)
class InternalKind:
    """The functions for one kind of data, which take the data, its schema or a release of it, and what `more` gives."""

    check: Callable[..., Checked]
    compare: Callable[..., Comparison]
    takes_nodes: bool = False
    takes_frames: bool = False

    def source(self, data: object) -> object:
        """The data as these functions read it: a path, or a frame if they take one."""
        if isinstance(data, str | os.PathLike):
            return Path(data)
        if not self.takes_frames:
            raise ParameterError("only tables are compared as data frames; give the path of the file")
        return data

    def more(self, nodes: Path | None) -> tuple[Path | None, ...]:
        """The private list of a graph's nodes for functions that take one; refused for others."""
        if self.takes_nodes:
            return (nodes,)
        if nodes is not None:
            raise ParameterError("--nodes is for graphs; leave it out")
        return ()


KINDS = {
    "table": InternalKind(check_table, compare_table, takes_frames=True),
    "sets": InternalKind(check_sets, compare_sets),
    "sequences": InternalKind(check_sequences, compare_sequences),
    "graph": InternalKind(check_graph, compare_graph, takes_nodes=True),
    "families": InternalKind(check_families, compare_families, takes_frames=True),
}


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
    kind = KINDS[public.kind]
    return kind.check(kind.source(data), public, *kind.more(nodes))


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


def evaluate(data: object, release: Release, nodes: Path | None = None) -> Comparison:
    """Compares a release with the data that it was made from. INTERNAL: the result shows private facts.

    Parameters
    ----------
    data : path or data frame
        The private data: a file, or for tables a data frame too.
    release : Release
        What was published.
    nodes : path, optional
        The private list of a graph's nodes.

    Returns
    -------
    Comparison
        `print` shows private numbers beside released ones, and the error of random questions.

    Examples
    --------
    >>> import cantle, polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 200})
    >>> schema = {"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]}
    >>> compared = evaluate(people, cantle.publish(people, schema, epsilon=1, insecure_seed=1))
    >>> compared, compared.facts[0].private
    (Comparison(private; print it to read it), 400)
    """
    kind = KINDS[release.manifest.kind]
    return kind.compare(kind.source(data), release, *kind.more(nodes))
