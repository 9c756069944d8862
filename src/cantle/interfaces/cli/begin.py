"""The commands to begin with: `cantle demo` and `cantle studio`."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cantle.errors import MissingExtra, OutputError, ParameterError, install_command, raise_alone
from cantle.interfaces.cli.options import (
    Json,
    argument,
    new_file,
    option,
    output,
    print_result,
    progress,
    table,
    write_file,
)

if TYPE_CHECKING:
    from cantle.release import Release


def demo_command(
    to: Annotated[Path | None, output("The folder for the release. Default: cantle-demo.", "DIR")] = None,
    epsilon: Annotated[str, option("The privacy budget.", "E")] = "1",
    as_json: Json = False,
) -> None:
    """Publish a small made-up population.

    It compares what went in with what came out. Beside the folder of the release it writes the made-up people and their
    schema, with which other commands can be tried.

    Example: cantle demo
    """
    from cantle.data.draft_schema.tables import text_of
    from cantle.interfaces import demo_data
    from cantle.interfaces.publishing import publish
    from cantle.release import Release
    from cantle.release.answers.estimates import in_words
    from cantle.release.report.page import installed

    folder = _free(to) if to else _free_name("cantle-demo")
    people, schema = _beside(folder)
    truth = demo_data.population()
    with progress():
        publish(truth, demo_data.SCHEMA, epsilon=epsilon).save(folder)
        release = Release.load(folder)
        report = _report(release, folder)
    truth.write_csv(people)
    schema.write_text(text_of(demo_data.SCHEMA["fields"]), encoding="utf-8", newline="\n")
    compared = demo_data.comparison(truth, release)
    rows = [
        (one.fact, in_words(one.private, one.released.high - one.released.low), str(one.released)) for one in compared
    ]

    def show() -> None:
        print(f"{len(truth):,} made-up people, published with epsilon {release.manifest.epsilon} in {folder}/\n")
        table("What went in (shown only because this is a demo) and what came out", ("", "private", "released"), rows)
        print(f"\n{report}" if installed() else f"\nNo report: {report}")
        print(f"Read {folder}/statement.md for the promise, then try:")
        print(f"  cantle show {folder}\n  cantle verify {folder}\n  cantle sample {folder} -n 5")
        print(f"The made-up people are in {people}, and their schema in {schema}:")
        print(f"  cantle check {people} --schema {schema}")
        print(f"  cantle publish {people} --schema {schema} --epsilon 1 -o release")

    facts = [vars(one) | {"released": one.released.to_dict()} for one in compared]
    print_result(
        as_json, {"release": str(folder), "data": str(people), "schema": str(schema), "comparison": facts}, show
    )


def _report(release: Release, folder: Path) -> str:
    """Writes the report; returns a sentence that says where it is, or why there is none."""
    from cantle.release.report.page import installed

    if not installed():
        return f"it needs jinja2 ({install_command('report')})"
    target = folder / "report.html"
    write_file(target, release.report())
    return f"Open {target} in a browser to see the release."


def _beside(folder: Path) -> tuple[Path, Path]:
    """The files of the made-up people and of their schema, which are not part of the release."""
    return folder.with_name(f"{folder.name}.csv"), folder.with_name(f"{folder.name}.yaml")


def _free(folder: Path) -> Path:
    from cantle.release import check_free

    for one in _beside(check_free(folder)):
        new_file(one, "folder")
    return folder


def _free_name(stem: str) -> Path:
    """The first of stem, stem-2, stem-3, … of which nothing exists yet."""
    names = (Path(stem if number == 1 else f"{stem}-{number}") for number in count(1))
    return next(name for name in names if not any(one.exists() for one in (name, *_beside(name))))


def studio_command(
    folder: Annotated[Path, argument("A project folder (made if it is new), or a finished release.", "DIR")] = Path(
        "."
    ),
    port: Annotated[int, option("A port of this machine; 0: any that is free.", "N", min=0, max=65535)] = 0,
    browser: Annotated[bool, option("Open a browser.")] = True,
) -> None:
    """Make a release, or look at one, in a browser.

    Only this machine can reach the page, with the address that is printed. The studio writes schema.yaml, cantle.toml,
    a ledger and releases into the project folder, where the other commands read them. End it with Ctrl-C.

    Example: cantle studio patients

    Example: cantle studio patients/release
    """
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        raise MissingExtra(f"the studio needs {' and '.join(missing)}; {install_command('studio')}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise_alone(ParameterError(f"{folder} is a file; give a project folder, or the folder of a release"))
    except OSError as error:
        raise_alone(OutputError(f"cannot make the folder {folder}: {error.strerror}"))
    from cantle.interfaces.studio.server import serve

    try:
        serve(folder, port, browser=browser, say=_say)
    except KeyboardInterrupt:
        typer.echo("The studio has ended.")


def _say(words: str) -> None:
    typer.echo(f"cantle studio: {words}\nEnd it with Ctrl-C." if words.startswith("http") else words)
