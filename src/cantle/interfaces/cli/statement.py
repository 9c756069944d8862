"""The commands that make a release official: statement and sign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cantle.errors import ParameterError
from cantle.interfaces.cli.output import Json, print_result
from cantle.interfaces.cli.release import ReleaseDirOrDefault, marked_file, outside, release_folder
from cantle.interfaces.cli.report import write_report


def statement_command(
    given: ReleaseDirOrDefault = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A new HTML file. Default: statement.html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the statement of a release as a page to print and sign.

    The page is one HTML file, made from the release alone. Print it from a browser.

    Example: cantle statement release -o statement.html
    """
    from cantle.release import Release
    from cantle.release.report.page import printable_statement

    folder = release_folder(given)
    release = Release.load(folder)
    target = outside(marked_file(output or Path("statement.html"), release), folder)
    write_report(target, printable_statement(release))
    print_result(as_json, {"file": str(target)}, lambda: print(f"wrote {target}: open it in a browser and print it"))


def sign_command(
    folder: ReleaseDirOrDefault = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="The private key that signs.")] = None,
    new_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Make a new key, and FILE.pub for those who verify; signs nothing."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Sign a release, so that readers can check who published it.

    A release that does not verify is not signed. Readers run `cantle verify DIR --key FILE.pub`.

    Example: cantle sign --new-key office.key

    Example: cantle sign release --key office.key
    """
    from cantle.release.sign import new_keys, sign

    if (key is None) == (new_key is None):
        raise ParameterError("give --key FILE to sign a release, or --new-key FILE to make a key")
    if new_key is not None:
        public = new_keys(new_key)
        words = f"wrote {new_key} (keep it secret) and {public} (give it to those who verify)"
        print_result(as_json, {"private": str(new_key), "public": str(public)}, lambda: print(words))
    elif key is not None:
        target = sign(release_folder(folder), key)
        print_result(as_json, {"file": str(target)}, lambda: print(f"wrote {target}"))
