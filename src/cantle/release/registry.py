"""registry.yaml: the release as an entry of tier 3 for the public registry of differential-privacy deployments.

It is made from the manifest alone, so that `verify` can make it again, and without a YAML library, so that no new
version of one changes a byte. What only the curator knows is left blank: an empty text where the registry's schema
expects text, a comment where it expects one of a list.
"""

from __future__ import annotations

from typing import Any

from cantle.release.manifest import EarlierRelease, Manifest
from cantle.release.statement import beyond, declared_records, fitted, neighbours, noise
from cantle.trusted.budget import words_of

CURATOR = "to be filled in by the curator"
_INDENT = "  "


def registry(manifest: Manifest) -> str:
    """The text of registry.yaml."""
    m = manifest
    top = [
        "# An entry for the registry of differential-privacy deployments, tier 3, as a draft.",
        f"# Blanks ('') are {CURATOR}; the rest follows from release.json.",
        *([] if m.private else [f"# {m.guarantee}: do not register this release."]),
        _field(0, "url_slug", "", "name-curators-year, in lower case"),
        _field(0, "status", "Draft"),
        _field(0, "tier", 3),
        "deployment:",
    ]
    parts = {
        "basic": _basic(m),
        "dp_variant": _variant(m),
        "privacy_loss": _loss(m),
        "deployment_model": _model(m),
        "accounting": _accounting(m),
        "implementation": _implementation(m),
        "administrative": _administrative(m),
    }
    for name, fields in parts.items():
        top += [f"{_INDENT}{name}:", *fields]
    return "\n".join(top) + "\n"


# ------------------------------------------------------------------------------------------ the seven sections


def _basic(m: Manifest) -> list[str]:
    return [
        _field(2, "name", "", CURATOR),
        _field(2, "data_curators", [""], CURATOR),
        _field(2, "intended_use", "", CURATOR),
        _field(2, "data_product_type", "Summary statistics" if m.kind == "graph" else "Synthetic data"),
        _field(2, "data_product_region", "", CURATOR),
        _field(2, "description", _description(m)),
        _field(2, "publication_date", (m.created or "")[:10], "the day it was made; correct it if published later"),
        _blank(2, "data_product_sector", "Technology, Healthcare, Education, Government, Energy or Finance"),
    ]


_MADE = {
    "table": "{n} synthetic records of a table, drawn from noisy counts of regions of the public domain",
    "sets": "{n} synthetic sets of items, drawn from noisy counts",
    "graph": "the degree sequence of a graph, made from noisy counts",
}


def _description(m: Manifest) -> str:
    bare = "Statistics" if m.kind == "graph" else "Synthetic data"
    sound = "Differentially private data" if m.private else f"{m.guarantee}. {bare}"
    made = _MADE[m.kind].format(n=m.summary["records"])
    return f"{sound}: {made}. Method {m.method}, preset {m.parameters['preset']}."


def _variant(m: Manifest) -> list[str]:
    return [
        _field(2, "variant_name", "Pure DP" if m.private else "Custom"),
        _field(2, "data_domain", _domain(m)),
        _field(2, "unprotected_quantities", _unprotected(m)),
    ]


def _domain(m: Manifest) -> str:
    """All data sets that the schema allows."""
    if m.kind == "sets":
        return f"Collections of any number of sets (also zero) of items of a public universe ({_named(m, 'items')})."
    if m.kind == "graph":
        return f"All undirected graphs without loops on public names of nodes ({_named(m, 'nodes')})."
    fields = [one for one in m.schema["fields"] if one.get("role") != "identifier"]
    listed = "\n".join(f"- {_printable(one['name'])}: {_values(one)}" for one in fields)
    return f"Data sets of any number of records (also zero) with these public fields:\n{listed}"


def _named(m: Manifest, what: str) -> str:
    """How the public names of items or nodes are declared."""
    named = m.schema.get(what)
    if isinstance(named, dict) and {"minimum", "maximum"} <= set(named):
        return f"{_printable(named['minimum'])} to {_printable(named['maximum'])}"
    return f"{len(named)} listed in release.json" if isinstance(named, list) else "as declared in release.json"


def _values(one: dict[str, Any]) -> str:
    bounds = one.get("constraints", {})
    text = str(one["type"])
    if listed := one.get("categories") or bounds.get("enum"):
        text += f", {len(listed)} categories"
    elif "minimum" in bounds and "maximum" in bounds:
        text += f", {_printable(bounds['minimum'])} to {_printable(bounds['maximum'])}"
    if "step" in one:
        text += f", in steps of {_printable(one['step'])}"
    return f"{text} (target)" if one.get("role") == "target" else text


def _unprotected(m: Manifest) -> str:
    if not m.private:
        return f"{m.guarantee}."
    text = (
        "None: nothing is computed from the data without noise. Public input, chosen without looking at the data: the "
        "schema (names, bounds, grids, categories and their order), epsilon and all parameters"
    )
    if declared_records(m) is not None:
        text += f", among them the number of records, declared as {declared_records(m)}"
    return f"{text}. Not covered: {beyond(m)}"


def _loss(m: Manifest) -> list[str]:
    epsilon = words_of(m.receipt.epsilon_nano)
    claimed = [f"{_INDENT * 2}privacy_parameters:", f"{_INDENT * 3}epsilon: {epsilon}"] if m.private else []
    details = "The whole spend of this release; pure DP, so delta is 0." if m.private else f"{m.guarantee}."
    return [
        _field(2, "privacy_unit", m.unit),
        _field(2, "privacy_unit_details", f"Adjacent data sets: {neighbours(m)}."),
        *claimed,
        _field(2, "privacy_parameters_details", details + _all_releases(m)),
    ]


def _all_releases(m: Manifest) -> str:
    line = m.ledger
    if not line:
        return " No ledger was kept of other releases from the same data."
    cap = "no cap is set" if line.cap_nano is None else f"the cap is {words_of(line.cap_nano)}"
    return (
        f" Ledger of data set {line.dataset}: release {line.sequence}; all releases up to this one spend epsilon "
        f"{words_of(line.spent_nano)} together, and {cap}."
    )


def _model(m: Manifest) -> list[str]:
    earlier = () if m.ledger is None else m.ledger.earlier
    listed = [f"- {e.time}: {e.method}, epsilon {words_of(e.epsilon_nano)}, {_became(e)}" for e in earlier]
    details = "\n".join(["Earlier releases from the same data, from the ledger:", *listed]) if listed else ""
    return [
        _field(2, "model_name", "Central"),
        _field(2, "model_name_details", "The curator holds the data and runs cantle; readers get the release alone."),
        _field(2, "actors", "", CURATOR),
        _field(2, "release_type", "Many releases" if earlier else "One release"),
        _field(2, "release_type_details", details, "plans for further releases: " + CURATOR),
        _blank(2, "data_source_type", "Static or Dynamic"),
        _blank(2, "data_source_type_details", CURATOR),
        _field(2, "access_type", "Non-interactive"),
        _field(2, "access_type_details", "Readers query the released files; nothing asks the data again."),
    ]


def _became(entry: EarlierRelease) -> str:
    return f"sha256 {entry.sha256}" if entry.sha256 else "charged, no release recorded"


def _accounting(m: Manifest) -> list[str]:
    paths = len(m.receipt.paths)
    drawn = "counts are made consistent and rounded, and records are drawn from them; release.json has the seed"
    made = fitted(m) or drawn
    return [
        _field(2, "post_processing", f"{made[0].upper()}{made[1:]}. All of it happens after the data is closed."),
        _field(
            2,
            "composition",
            "Sequential along each path from the whole domain to a region, parallel over disjoint regions: no path "
            f"spends more than epsilon. release.json lists every charge (kinds of paths: {paths}). Releases compose "
            "sequentially.",
        ),
    ]


_VERBS = {
    "choose": "noisy selections (exponential mechanism or permute-and-flip, tuned to the range of the score)",
    "measure": "noisy counts (discrete Laplace mechanism)",
    "test": "noisy yes-or-no tests (discrete Laplace noise)",
}


def _implementation(m: Manifest) -> list[str]:
    verbs = sorted({charge.verb for charge in m.receipt.charges()})
    software = ", ".join(f"{name} {version}" for name, version in sorted(m.software.items()))
    mechanisms = [
        *(f"- {_VERBS.get(verb, verb)}" for verb in verbs),
        f"- Noise: {noise(m)}.",
        "- Integer counts, rational rates, exact samplers: no floating-point number decides a draw.",
        "- Timing, memory and caches of the machine that runs it are not protected; readers never reach it.",
        f"- Software: {software}. Schema sha256 {m.schema_sha256}.",
        "- Access to the data before it is published: only the curator can say.",
    ]
    return [
        _field(
            2,
            "preprocessing_and_hyperparameter_tuning",
            "Records are cleaned one by one by public rules of the schema. Parameters are public, or follow from "
            "public values and charged noisy counts; every parameter is in release.json.",
            "how epsilon was chosen: " + CURATOR,
        ),
        _field(2, "mechanisms", "\n".join(mechanisms)),
        _field(2, "justification", "", CURATOR),
    ]


def _administrative(m: Manifest) -> list[str]:
    return [
        _field(2, "sources", "", "where the release can be downloaded: " + CURATOR),
        _field(2, "notes", f"Made by cantle {m.software['cantle']}. {m.guarantee}."),
        _field(2, "registry_authors", [""], CURATOR),
    ]


# ----------------------------------------------------------------------------------------------- writing YAML


def _field(level: int, key: str, value: Any, note: str = "") -> str:
    """One field (a text, a whole number or a list of texts) and a comment after it."""
    lead = f"{_INDENT * level}{key}:"
    comment = f"  # {note}" if note else ""
    if isinstance(value, int):
        return f"{lead} {value}{comment}"
    if isinstance(value, list):
        return "\n".join([f"{lead}{comment}", *(f"{_INDENT * (level + 1)}- {_quoted(one)}" for one in value)])
    lines = value.split("\n")
    if len(lines) == 1 or not _is_plain(value):
        return f"{lead} {_quoted(value)}{comment}"
    return "\n".join([f"{lead} |-{comment}", *(f"{_INDENT * (level + 1)}{line}" for line in lines)])


def _blank(level: int, key: str, choices: str) -> str:
    """A field that may not be empty in the registry's schema, written as a comment for the curator to fill in."""
    return f"{_INDENT * level}# {key}:  # {choices}"


def _is_plain(text: str) -> bool:
    """Whether the lines can stand in a block as they are."""
    return all(line.isprintable() and line and line[0] != " " for line in text.split("\n"))


def _quoted(text: str) -> str:
    """A text in YAML quotes; in double ones, with what does not print spelled out, where single ones will not do."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text) + '"'


def _printable(value: Any) -> str:
    """A public value on one line."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(value))
