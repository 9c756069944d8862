"""The statement for people and the data package for tools, both made from the manifest alone."""

from __future__ import annotations

import math
from typing import Any


def odds(epsilon: float) -> str:
    """epsilon in words.

    >>> odds(1.0)
    'at most 2.72 times'
    """
    factor = math.exp(min(epsilon, 700.0))
    return f"at most {factor:.3g} times" if factor >= 1.1 else f"at most {100 * (factor - 1):.2g} % more"


def statement(manifest: dict[str, Any]) -> str:
    """statement.md: whom the release protects, from what, how strongly, and what it does not protect."""
    m = manifest
    epsilon = m["receipt"]["epsilon_nano"] / 10**9
    warning = "" if m["private"] else f"> **{m['guarantee']}.** What follows describes the method, not a promise.\n\n"
    return f"""# Statement of privacy

{warning}| | |
|---|---|
| guarantee | {m["guarantee"]} |
| epsilon | {m["epsilon"]} (the whole spend of this release) |
| protects | {m["unit"]} |
| neighbours | two data sets of which one has {m["unit"]} more than the other; the number of records is private |
| method | {m["method"]}, preset {m["parameters"]["preset"]} |
| noise | exact discrete Laplace noise and exact selections, from the operating system's entropy |

## What is promised

Whatever anyone concludes from this release, they would have concluded with nearly the same probability had {m["unit"]}
been left out: the odds of any outcome change {odds(epsilon)}. This holds whatever else they know, and however much
they compute. For replacing {m["unit"]} by another, with the number of records fixed, read 2 epsilon
({2 * epsilon:.10g}) in place of epsilon.

## What is not protected

* The schema: names, bounds, categories and their order are public input, and so are epsilon and all parameters.
* Facts about a group or a population that hold whether or not any one person took part.
* People with more records than the unit covers, and records of different people that are correlated.
* Running time, memory use and messages about the file as a whole, seen by whoever runs the program.
* Other releases from the same data: their epsilons add up. Earlier releases: not recorded here.

## Where the budget went

{_receipt_table(m["receipt"])}

## What came out

{m["summary"]["records"]} synthetic records, drawn from the noisy counts of {_regions(m)}; none of them is a record of a
person.

## Software

{", ".join(f"{name} {version}" for name, version in sorted(m["software"].items()))}. Schema sha256 {m["schema_sha256"]}.
"""


def _regions(manifest: dict[str, Any]) -> str:
    s = manifest["summary"]
    if manifest["method"] != "diffgen":
        return f"{s['leaves']} regions"
    return f"{s['cells']} cells, of which the {s['listed']} with a noisy count of at least {s['at_least']} are listed"


def _receipt_table(receipt: dict[str, Any]) -> str:
    """Charges by reason, over all kinds of paths; the dearest path of each reason."""
    worst: dict[str, int] = {}
    for path in receipt["paths"]:
        spent: dict[str, int] = {}
        for charge in path["charges"]:
            spent[charge["why"]] = spent.get(charge["why"], 0) + charge["epsilon_nano"]
        for why, nano in spent.items():
            worst[why] = max(worst.get(why, 0), nano)
    total = max((path["epsilon_nano"] for path in receipt["paths"]), default=0)
    lines = ["| question | at most, on a path |", "|---|---|"]
    lines += [f"| {why} | {nano / 10**9:.9g} |" for why, nano in worst.items()]
    lines += [f"| **all questions of a path** | **{total / 10**9:.9g}** |"]
    return "\n".join(lines)


def datapackage(manifest: dict[str, Any], data_name: str) -> dict[str, Any]:
    """datapackage.json: the records as a Frictionless resource with the public schema."""
    stored = data_name.rsplit(".", 1)[-1]
    fields = [dict(field) for field in manifest["schema"]["fields"] if field.get("role") != "identifier"]
    return {
        "name": "cantle-release",
        "title": f"Private release by cantle ({manifest['guarantee']})",
        "resources": [
            {
                "name": "data",
                "path": data_name,
                "format": stored,
                "mediatype": "text/csv" if stored == "csv" else "application/vnd.apache.parquet",
                "encoding": "utf-8",
                "schema": {"fields": fields, "missingValues": [""]},
            }
        ],
    }
