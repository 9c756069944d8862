"""`cantle evaluate`: compares a release with the data it was made from. The result is private."""

from __future__ import annotations

from pathlib import Path

from cantle.internal.comparison import Comparison
from cantle.internal.kinds import kind_for
from cantle.release import Release


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
    kind = kind_for(release.manifest.kind, nodes)
    return kind.compare(kind.source(data), release, nodes)
