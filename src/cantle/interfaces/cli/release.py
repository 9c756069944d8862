"""The commands that read a release: show, verify, sample, query, graph, map, apply."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cantle.errors import OutputError, ParameterError, VerifyError
from cantle.interfaces.cli.options import (
    Json,
    argument,
    chosen,
    internal_file,
    new_file,
    option,
    output,
    print_or_write,
    print_result,
    switch,
    table,
    write_file,
    write_internal,
    writing,
)

if TYPE_CHECKING:
    import polars as pl

    from cantle.release import Release


ReleaseDir = Annotated[Path, argument("A release folder.", "DIR")]
ReleaseDirOrDefault = Annotated[
    Path | None, argument("A release folder. Default: `out` in cantle.toml, or release.", "DIR")
]


def release_folder(given: Path | None) -> Path:
    """The folder of a release: as given, or the one that `publish` writes to without -o."""
    return Path(chosen(None if given is None else str(given), "out", "release"))


def show_command(
    folder: ReleaseDirOrDefault = None,
    depth: Annotated[int, option("Number of levels of the tree to draw.", "N", min=0)] = 3,
    everything: Annotated[
        bool, switch("All columns and noisy tables; by default the first ones of many.", "--all")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the main facts of a release.

    It also shows where the budget went, the columns as bars, and the regions or noisy tables.

    Example: cantle show release
    """
    from cantle.release import Release
    from cantle.release.show import overview, sections

    release = Release.load(release_folder(folder))

    def show() -> None:
        for name, value in overview(release):
            print(f"{name:10} {value}")
        for title, lines in sections(release, depth, everything):
            print("", title, *lines, sep="\n")

    print_result(as_json, release.manifest.to_dict(), show)


def verify_command(
    folder: ReleaseDirOrDefault = None,
    key: Annotated[Path | None, option("The public key of who signed the release.", "FILE")] = None,
    as_json: Json = False,
) -> None:
    """Check a release: receipt, hashes, schema, statement, counts, report and, with a key, who signed it.

    Example: cantle verify release

    Example: cantle verify release --key office.key.pub
    """
    from cantle.release.verify import findings

    where = release_folder(folder)
    found = findings(where, key)
    verdict = "NOT verified" if found.problems else "verified, except for that" if found.unchecked else "verified"

    def show() -> None:
        for problem in found.problems:
            print(f"FAILED: {problem}")
        for remark in found.unchecked:
            print(f"NOT CHECKED: {remark}")
        print(f"{where}: {verdict}")

    facts = {"problems": found.problems, "unchecked": found.unchecked}
    print_result(as_json, {"release": str(where), "ok": not found.problems, **facts}, show)
    if found.problems:
        raise typer.Exit(VerifyError.exit_code)


def sample_command(
    n: Annotated[int, option("Number of records (graphs: of degrees).", "N", "-n", min=0)],
    folder: ReleaseDirOrDefault = None,
    to: Annotated[Path | None, output("A new CSV file (sets: FIMI lines), or FILE.parquet. Default: print.")] = None,
    where: Annotated[
        str | None, option("Tables: only records such as \"age >= 65 and sex == 'F'\".", "QUESTION")
    ] = None,
    seed: Annotated[int | None, option("Random seed. Sampling uses no privacy budget.", "N", min=0)] = None,
    as_json: Json = False,
) -> None:
    """Draw more synthetic records from a release. This uses no privacy budget.

    Most methods draw new records from the noisy counts. From a release by diffpart or degrees, the released sets or
    degrees are drawn again, with replacement.

    Example: cantle sample release -n 1000 -o more.csv

    Example: cantle sample release -n 100 --where "age >= 65"
    """
    from cantle.release.storage import as_text, number_of, write

    release = opened(folder)
    target = None if to is None else made_file(to, release)
    records = release.sample(n, seed=seed, where=where)
    drawn = number_of(records, release.manifest)
    facts = {"records": drawn, "private": release.private, "guarantee": release.manifest.guarantee}
    if target is None:
        text = as_text(records, release.manifest)
        print_result(as_json, facts | {"csv": text}, lambda: print(text, end=""))
        return
    if target.suffix.lower() in (".parquet", ".pq"):
        with writing(target):
            write(records, target, "parquet", release.manifest)
    else:
        write_file(target, as_text(records, release.manifest))
    print_result(as_json, facts | {"file": str(target)}, lambda: print(f"wrote {target}: {drawn:,} records"))


def opened(given: Path | None) -> Release:
    """A release, with a warning if it is not private, because printed CSV lines cannot carry the mark."""
    from cantle.release import Release

    release = Release.load(release_folder(given))
    if not release.private:
        print(f"{release.manifest.guarantee}; this also holds for what is made from the release", file=sys.stderr)
    return release


def made_file(to: Path, release: Release) -> Path:
    """The path of a new file made from a release, outside of its folder; its name is marked NOT-PRIVATE if those of the
    release are."""
    from cantle.release.manifest import mark_of

    mark = mark_of(release.manifest)
    target = new_file(to if to.name.startswith(mark) else to.with_name(mark + to.name))
    if release.folder is not None and release.folder.resolve() in target.resolve().parents:
        raise OutputError(f"{target.name} is not one of the files of the release; choose a file outside of its folder")
    return target


def graph_command(
    folder: ReleaseDir,
    to: Annotated[Path, output("A new edge list.")],
    seed: Annotated[int | None, option("Random seed. The degrees are already public.", "N", min=0)] = None,
    as_json: Json = False,
) -> None:
    """Make a random graph with the released degrees. Who is connected to whom is made up, and so is clustering.

    Example: cantle graph release -o graph.txt
    """
    from cantle.drawing.random_graph import regenerate, write_edges
    from cantle.release.storage import as_polars

    release = opened(folder)
    if release.manifest.method != "degrees":
        raise ParameterError(
            "only a release by method degrees can be turned into a graph; this one was made by another method"
        )
    target = made_file(to, release)
    degrees = as_polars(release.records, release.manifest)["degree"].to_numpy()
    edges = regenerate(degrees, seed)
    with writing(target):
        write_edges(edges, target, nodes=len(degrees), warning="" if release.private else release.manifest.guarantee)
    note = "degrees as released (adjusted so that such a graph exists); edges and clustering are made up"
    facts = {"file": str(target), "nodes": len(degrees), "edges": len(edges), "note": note}
    facts |= {"private": release.private, "guarantee": release.manifest.guarantee}
    print_result(as_json, facts, lambda: print(f"wrote {target}: {len(degrees):,} nodes, {len(edges):,} edges; {note}"))


def map_command(
    folder: ReleaseDirOrDefault = None,
    to: Annotated[Path | None, output("A new GeoJSON file.")] = None,
    place: Annotated[str | None, option("Which place, if there are several.", "NAME")] = None,
    as_json: Json = False,
) -> None:
    """Write a place of a table as GeoJSON: rectangles with their counts, intervals and densities.

    Example: cantle map release -o map.geojson
    """
    from cantle.release.maps import geojson

    release = opened(folder)
    target = None if to is None else made_file(to, release)
    facts = {"private": release.private, "guarantee": release.manifest.guarantee}
    print_or_write(geojson(release, place), "geojson", target, facts, as_json)


def apply_command(
    folder: ReleaseDir,
    data: Annotated[Path, argument("Another table with the same schema.", "DATA")],
    to: Annotated[Path | None, output("A new file named *.internal.csv.")] = None,
    as_json: Json = False,
) -> None:
    """Generalise another file with the cuts of a diffgen release. NOT PRIVATE.

    The file may be a test set or next year's data. Its records get the same labels as those of the release.

    Example: cantle apply release test.csv -o test.internal.csv
    """
    from cantle.release import Release

    target = internal_file(to or Path(f"{data.stem}.internal.csv"), (".csv",), folder)
    print("NOT PRIVATE: made from the records without noise, for internal use only", file=sys.stderr)
    write_internal(target, Release.load(folder).generalise(data).write_csv())
    print_result(as_json, {"file": str(target), "private": False}, lambda: print(f"wrote {target}"))


def query_command(
    folder: ReleaseDir,
    question: Annotated[str, argument("Such as \"age >= 65 and diabetes == 'yes'\". Default: all.", "QUESTION")] = "",
    by: Annotated[list[str], option("One row per value (of tables); may be repeated.", "COLUMN", "--by")] = [],  # noqa: B006
    mean: Annotated[str | None, option("The mean of a column of numbers, not a count.", "COLUMN", "--mean")] = None,
    weighted: Annotated[
        bool, switch("Each record counts for its weight (role: weight in the schema).", "--weighted")
    ] = False,
    regress: Annotated[
        str | None, option('A linear regression, such as "income ~ age + sex".', "FORMULA", "--regress")
    ] = None,
    itemsets: Annotated[
        float | None, option("Sets: list what this share (or number) of the sets holds.", "SUPPORT", "--itemsets")
    ] = None,
    confidence: Annotated[float, option("In what share of cases the interval holds the true value.", "SHARE")] = 0.95,
    to: Annotated[Path | None, output("A new CSV file. Default: print.")] = None,
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

    from cantle.release.answers.askers import asker_of
    from cantle.release.answers.estimates import LIMITS, NOISE_ONLY, WITHOUT_CONFIDENCE
    from cantle.release.kinds import kind_of

    if to is not None and to.suffix.lower() != ".csv":
        raise ParameterError(f"query writes CSV; choose a name that ends in .csv, not {to.name!r}")
    if itemsets is not None and (question or by or mean or weighted):
        raise ParameterError("--itemsets lists groups of items; it goes with --confidence and -o, and nothing else")
    beside = {"a question": question, "--by": by, "--mean": mean, "--weighted": weighted, "--itemsets": itemsets}
    if regress is not None and (given := [name for name, value in beside.items() if value]):
        raise ParameterError(f"--regress uses all records as they are; leave out {' and '.join(given)}")
    release = opened(folder)
    target = None if to is None else made_file(to, release)
    facts: dict[str, object] = {"question": question, "mean": mean, "weighted": weighted, "confidence": confidence}
    estimate: Any = partial(release.mean, mean) if mean else release.count
    told: Any = None
    if regress is not None:
        told = release.regress(regress, confidence=confidence)
        rows, facts = told.frame(), {"regress": regress, "records": told.records, "notes": list(told.notes)}
        facts |= {"confidence": confidence, "rows": _plain(rows).to_dicts()}
    elif by or itemsets is not None:
        if itemsets is None:
            rows, facts = estimate(question, by=by, confidence=confidence, weighted=weighted), facts | {"by": by}
            asker = asker_of(release)
            if said := asker.cut_steps(asker.parse(question)):
                print(f"note: {said}", file=sys.stderr)
        else:
            rows, facts, by = release.itemsets(itemsets, confidence=confidence), {"itemsets": itemsets}, ["items"]
        unsure = set(rows["covers"]) & set(WITHOUT_CONFIDENCE)
        facts |= {"confidence": None if unsure else confidence, "rows": _plain(rows).to_dicts()}
    else:
        told = estimate(question, confidence=confidence, weighted=weighted)
        rows = pl.DataFrame({name: [getattr(told, name)] for name in ("value", "low", "high", "covers")})
        facts |= told.to_dict()
    if NOISE_ONLY in rows["covers"]:
        print(f"note: {kind_of(release.manifest.kind).noise_note}", file=sys.stderr)
    if by and LIMITS in rows["covers"]:
        print(f"note: rows marked {LIMITS} were never counted by themselves; no 95 % interval exists", file=sys.stderr)
    facts |= {"private": release.private, "guarantee": release.manifest.guarantee}
    if itemsets is not None:
        rows = rows.with_columns(pl.col("items").cast(pl.List(pl.String)).list.join(", "))
    if target is not None:
        write_file(target, _plain(rows).write_csv())
        print_result(as_json, facts | {"file": str(target)}, lambda: print(f"wrote {target}: {len(rows)} rows"))
        return
    print_result(as_json, facts, lambda: _show(release, rows, by, confidence) if told is None else print(told))


def _plain(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows for JSON and CSV: dates become texts, and NaN becomes null."""
    import polars as pl
    import polars.selectors as cs

    from cantle.drawing.records import SECONDS

    texts = cs.datetime().dt.strftime(SECONDS), cs.date().cast(pl.String)
    return rows.with_columns(cs.float().fill_nan(None), *texts)


def _show(release: Release, rows: pl.DataFrame, by: list[str], confidence: float) -> None:
    """Prints the rows of a table of estimates."""
    from cantle.release.answers.groups import rows_in_words

    sure, lines = rows_in_words(release.schema, rows, by)
    low = f"{100 * confidence:g} % from" if sure else "from"
    table("", (*by, "value", low, "to", *(() if sure else ("covers",))), lines)
