"""The commands that make files of a release for people, archives and other programs: report, statement, sign, metadata
and bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cantle.errors import ParameterError
from cantle.interfaces.cli.internal import warn
from cantle.interfaces.cli.options import (
    DataSet,
    Json,
    defaults,
    internal_file,
    option,
    output,
    print_or_write,
    print_result,
    write_file,
    write_internal,
)
from cantle.interfaces.cli.release import ReleaseDirOrDefault, made_file, opened, release_folder

if TYPE_CHECKING:
    from cantle.release import Release
    from cantle.release.report.budget_section import Spending


def report_command(
    given: ReleaseDirOrDefault = None,
    to: Annotated[Path | None, output("Default: report.html in the release folder.")] = None,
    against: Annotated[
        Path | None, option("The private data: makes the INTERNAL edition, report.internal.html.", "DATA")
    ] = None,
    nodes: Annotated[Path | None, option("With --against: file listing all nodes (graphs only).", "FILE")] = None,
    ledger: Annotated[
        str | None, option("Show what the data set has spent up to now, from this ledger.", "FILE")
    ] = None,
    dataset: DataSet = None,
    as_json: Json = False,
) -> None:
    """Make a page that shows a release in a browser.

    The page is one HTML file, made from the release alone. It loads nothing and sends nothing.

    Example: cantle report release

    Example: cantle report release --against adult.csv -o adult.internal.html
    """
    from cantle.internal import WARNING
    from cantle.release import Release
    from cantle.release.report.page import render

    if nodes is not None and against is None:
        raise ParameterError("--nodes is for --against; give both, or leave it out")
    folder = release_folder(given)
    release = Release.load(folder)
    account = _account(ledger, dataset, release)
    if against is None:
        target = _public_file(folder, to, release)
        write_file(target, render(release, account=account))
    else:
        target = internal_file(to or Path("report.internal.html"), (".html",), folder)
        warn()
        from cantle.internal.check_and_evaluate import evaluate
        from cantle.internal.report_sections import internal_sections

        sections = internal_sections(evaluate(against, release, nodes))
        write_internal(target, render(release, account=account, internal=sections, warning=WARNING))
    facts = {"file": str(target), "bytes": target.stat().st_size, "internal": against is not None}
    print_result(as_json, facts, lambda: print(f"wrote {target}: open it in a browser"))


def _public_file(folder: Path, to: Path | None, release: Release) -> Path:
    """The path of the report. Only report.html in the release folder may be overwritten; other files are kept."""
    from cantle.release.manifest import mark_of
    from cantle.release.verify import REPORT

    name = mark_of(release.manifest) + REPORT
    if to is None or to.resolve() == (folder / name).resolve():
        return folder / name
    return made_file(to, release)


def _account(ledger: str | None, dataset: str | None, release: Release) -> Spending | None:
    """The data set's account in a ledger, as it is now.

    The ledger is the one that the options name, or that of cantle.toml if the release was charged there.
    """
    charged, usual = release.manifest.ledger, defaults()
    charged_there = charged is not None and "ledger" in usual and charged.dataset == usual.get("dataset")
    if charged_there or ledger is not None or dataset is not None:
        ledger, dataset = ledger or usual.get("ledger"), dataset or usual.get("dataset")
    if (ledger is None) != (dataset is None):
        from cantle.interfaces.opening import LEDGER_AND_NAME

        raise ParameterError(LEDGER_AND_NAME)
    if ledger is None or dataset is None:
        return None
    from cantle.release.report.budget_section import Spending, spent
    from cantle.trusted.ledger import Ledger

    account = Ledger(ledger).account(dataset)
    return Spending(account.dataset, account.cap_nano, [*map(spent, account.entries)])


def statement_command(
    given: ReleaseDirOrDefault = None,
    to: Annotated[Path | None, output("A new HTML file. Default: statement.html.")] = None,
    as_json: Json = False,
) -> None:
    """Make the statement of a release as a page to print and sign.

    The page is one HTML file, made from the release alone. Print it from a browser.

    Example: cantle statement release -o statement.html
    """
    from cantle.release.report.page import printable_statement

    release = opened(given)
    target = made_file(to or Path("statement.html"), release)
    write_file(target, printable_statement(release))
    print_result(as_json, {"file": str(target)}, lambda: print(f"wrote {target}: open it in a browser and print it"))


def sign_command(
    folder: ReleaseDirOrDefault = None,
    key: Annotated[Path | None, option("The private key that signs.", "FILE")] = None,
    new_key: Annotated[
        Path | None, option("Make a new key, and FILE.pub for those who verify; signs nothing.", "FILE")
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
        str, option("datacite or croissant.", "NAME", "--format", choices=("datacite", "croissant"))
    ] = "datacite",
    to: Annotated[Path | None, output("A new file. Default: print.")] = None,
    as_json: Json = False,
) -> None:
    """Write the metadata of a release for an archive (DataCite) or for search engines (Croissant).

    Title, curator, licence and so on are the facts of `cantle publish --statement`.

    Example: cantle metadata release --format datacite -o datacite.json
    """
    from cantle.release.metadata import FORMATS

    if form not in FORMATS:
        raise ParameterError(f"--format must be {' or '.join(FORMATS)}, got {form!r}")
    release = opened(given)
    text = FORMATS[form](release.manifest)
    target = None if to is None else made_file(to, release)
    print_or_write(text, "metadata", target, {"format": form}, as_json)


def bundle_command(
    to: Annotated[Path, output("A new file: .xlsx, .sav (SPSS), .dta (Stata) or .R.")],
    given: ReleaseDirOrDefault = None,
    as_json: Json = False,
) -> None:
    """Write a release of a table as one file for Excel, SPSS, Stata or R, with the labels of its code book.

    A workbook has the data, the codes, the statement and the accuracy. R reads .sav and .dta with haven; a file .R is a
    script that reads the folder of the release with its labels.

    Example: cantle bundle release -o release.xlsx
    """
    from cantle.release.bundle import bundle

    release = opened(given)
    target = made_file(to, release)
    bundle(release, target)
    print_result(as_json, {"file": str(target)}, lambda: print(f"wrote {target}"))
