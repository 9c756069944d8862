"""The command query: counts, tables and means with error bars, from a release alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cantle.errors import OutputError, ParameterError, raise_alone
from cantle.interfaces.cli.output import Json, print_result, table
from cantle.interfaces.cli.release import ReleaseDir, marked_file, warn_unless_private

if TYPE_CHECKING:
    import polars as pl

    from cantle.release import Release
    from cantle.release.answers.estimates import Estimate


def query_command(
    folder: ReleaseDir,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="Such as \"age >= 65 and diabetes == 'yes'\". Default: all.")
    ] = "",
    by: Annotated[
        list[str],
        typer.Option("--by", metavar="COLUMN", help="One row per value (of tables); may be repeated."),
    ] = [],  # noqa: B006
    mean: Annotated[
        str | None, typer.Option("--mean", metavar="COLUMN", help="The mean of a column of numbers, not a count.")
    ] = None,
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Each record counts for its weight (role: weight in the schema).")
    ] = False,
    regress: Annotated[
        str | None,
        typer.Option("--regress", metavar="FORMULA", help='A linear regression, such as "income ~ age + sex".'),
    ] = None,
    itemsets: Annotated[
        float | None,
        typer.Option("--itemsets", metavar="SUPPORT", help="Sets: list what this share (or number) of the sets holds."),
    ] = None,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="In what share of cases the interval holds the true value.")
    ] = 0.95,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A new CSV file. Default: print.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count records, or take means, with error bars. This reads the release alone and uses no privacy budget.

    A question joins comparisons (==, !=, <, <=, >, >=, in, between, is null) by and, or and not. Put texts, and names
    with blanks, in quotes.

    Example: cantle query release "age >= 65 and diabetes == 'yes'"

    Example: cantle query release "employed" --by region --mean income -o income.csv

    Example: cantle query survey "smokes" --weighted --by region

    Example: cantle query release --regress "income ~ age + sex"

    Example: cantle query baskets "contains 'bread' and not contains 'milk'"

    Example: cantle query baskets --itemsets 0.02

    Example: cantle query degrees "degree >= 10"

    Of linked tables, questions count parents; those that begin with the name of the children count these. `with` joins:

    Example: cantle query families "income == 'low' with persons: age >= 80"

    Example: cantle query families "persons: age < 18" --by sex
    """
    import polars as pl

    from cantle.release import Release
    from cantle.release.answers.estimates import LIMITS, NOISE_ONLY, WITHOUT_CONFIDENCE
    from cantle.release.kinds import KINDS

    if output is not None and output.suffix.lower() != ".csv":
        raise ParameterError(f"query writes CSV; choose a name that ends in .csv, not {output.name!r}")
    if itemsets is not None and (question or by or mean or weighted):
        raise ParameterError("--itemsets lists groups of items; it goes with --confidence and -o, and nothing else")
    release = Release.load(folder)
    warn_unless_private(release)
    target = None if output is None else marked_file(output, release)
    facts: dict[str, object] = {"question": question, "mean": mean, "weighted": weighted, "confidence": confidence}
    given, answer = confidence, dict[str, object]()
    if regress is not None:
        beside = {"a question": question, "--by": by, "--mean": mean, "--weighted": weighted, "--itemsets": itemsets}
        if given_too := [name for name, value in beside.items() if value]:
            raise ParameterError(f"--regress uses all records as they are; leave out {' and '.join(given_too)}")
        fit = release.regress(regress, confidence=given)
        rows, answer = fit.frame(), {"regress": regress, "records": fit.records, "notes": list(fit.notes)}
        answer |= {"confidence": given, "rows": _plain(rows)}
    elif itemsets is not None:
        by, rows = ["items"], release.itemsets(itemsets, confidence=given)
        stated = None if set(rows["covers"]) & set(WITHOUT_CONFIDENCE) else given
        answer = {"itemsets": itemsets, "confidence": stated, "rows": _plain(rows)}
        rows = rows.with_columns(pl.col("items").cast(pl.List(pl.String)).list.join(", "))
    elif by:
        rows = (
            release.mean(mean, question, by=by, confidence=given, weighted=weighted)
            if mean
            else release.count(question, by=by, confidence=given, weighted=weighted)
        )
        asker = KINDS[release.manifest.kind].asker(release)
        if said := asker.cut_steps(asker.parse(question)):
            print(f"note: {said}", file=sys.stderr)
        stated = None if set(rows["covers"]) & set(WITHOUT_CONFIDENCE) else given
        answer = facts | {"by": by, "confidence": stated, "rows": _plain(rows)}
    else:
        one = (
            release.mean(mean, question, confidence=given, weighted=weighted)
            if mean
            else release.count(question, confidence=given, weighted=weighted)
        )
        rows = _frame(one)
        answer = facts | one.to_dict()
    if NOISE_ONLY in rows["covers"]:
        print(f"note: {KINDS[release.manifest.kind].noise_note}", file=sys.stderr)
    if by and LIMITS in rows["covers"]:
        print(f"note: rows marked {LIMITS} were never counted by themselves; no 95 % interval exists", file=sys.stderr)
    answer |= {"private": release.private, "guarantee": release.manifest.guarantee}
    if target is not None:
        _write(rows, target)
        print_result(as_json, answer | {"file": str(target)}, lambda: print(f"wrote {target}: {len(rows)} rows"))
        return
    told = fit if regress is not None else None if by else one
    print_result(as_json, answer, lambda: _show(release, rows, by, confidence) if told is None else print(told))


def _frame(one: Estimate) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame({name: [getattr(one, name)] for name in ("value", "low", "high", "covers")})


def _plain(rows: pl.DataFrame) -> list[dict[str, object]]:
    """Rows for JSON: dates become texts, and NaN becomes null."""
    import polars as pl
    import polars.selectors as cs

    from cantle.drawing.records import SECONDS

    texts = cs.datetime().dt.strftime(SECONDS), cs.date().cast(pl.String)
    return rows.with_columns(cs.float().fill_nan(None), *texts).to_dicts()


def _write(rows: pl.DataFrame, target: Path) -> None:
    import polars.selectors as cs

    from cantle.drawing.records import SECONDS

    try:
        text = rows.with_columns(cs.float().fill_nan(None)).write_csv(datetime_format=SECONDS)
        target.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise_alone(OutputError(f"cannot write {target}: {error.strerror}"))


def _show(release: Release, rows: pl.DataFrame, by: list[str], confidence: float) -> None:
    """Prints the rows of a table of estimates."""
    from cantle.release.answers.estimates import WITHOUT_CONFIDENCE, in_words
    from cantle.release.words import value_in_words

    captions = release.schema.captions()
    unsure = set(rows["covers"]) & set(WITHOUT_CONFIDENCE)
    columns = (
        *by,
        "value",
        "from" if unsure else f"{100 * confidence:g} % from",
        "to",
        *(["covers"] if unsure else []),
    )
    lines = []
    for row in rows.iter_rows(named=True):
        width = row["high"] - row["low"]
        words = [value_in_words(row[name], captions.get(name, {})) for name in by]
        numbers = [in_words(row[name], width) for name in ("value", "low", "high")]
        lines.append((*words, *numbers, *([row["covers"]] if unsure else [])))
    table("", columns, lines)
