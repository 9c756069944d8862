"""The commands that make a release official, and prepare it for an archive or another program:
statement, sign, metadata and bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cantle.errors import ParameterError
from cantle.interfaces.cli.output import Json, print_result
from cantle.interfaces.cli.release import (
    ReleaseDirOrDefault,
    marked_file,
    outside,
    release_folder,
    warn_unless_private,
)
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


def metadata_command(
    given: ReleaseDirOrDefault = None,
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", autocompletion=lambda: ["datacite", "croissant"])
    ] = "datacite",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A new file. Default: print.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the metadata of a release for an archive (DataCite) or for search engines (Croissant).

    Title, curator, licence and so on are the facts of `cantle publish --statement`.

    Example: cantle metadata release --format datacite -o datacite.json
    """
    from cantle.release import Release
    from cantle.release.metadata import FORMATS

    if form not in FORMATS:
        raise ParameterError(f"--format must be {' or '.join(FORMATS)}, got {form!r}")
    folder = release_folder(given)
    release = Release.load(folder)
    text = FORMATS[form](release.manifest)
    if output is None:
        print_result(as_json, {"format": form, "metadata": text}, lambda: print(text, end=""))
        return
    target = outside(marked_file(output, release), folder)
    write_report(target, text)
    print_result(as_json, {"format": form, "file": str(target)}, lambda: print(f"wrote {target}"))


def bundle_command(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="A new file: .xlsx, .sav (SPSS), .dta (Stata) or .R.")
    ],
    given: ReleaseDirOrDefault = None,
    as_json: Json = False,
) -> None:
    """Write a release of a table as one file for Excel, SPSS, Stata or R, with the labels of its code book.

    A workbook has the data, the codes, the statement and the accuracy. R reads .sav and .dta with haven; a file .R is a
    script that reads the folder of the release with its labels.

    Example: cantle bundle release -o release.xlsx
    """
    from cantle.release import Release
    from cantle.release.bundle import bundle

    folder = release_folder(given)
    release = Release.load(folder)
    target = outside(marked_file(output, release), folder)
    warn_unless_private(release)
    bundle(release, target)
    print_result(as_json, {"file": str(target)}, lambda: print(f"wrote {target}"))
