"""registry.yaml: the release as an entry of tier 3 for the public registry of differential-privacy deployments.

It is made from the manifest alone, so that `verify` can make it again. It is one template, whose values are JSON texts,
which YAML can read. What only the curator knows is left blank: an empty text if the registry's schema requires a text,
a comment if it requires one of a list.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from cantle.release.kinds import kind_of, texts_of
from cantle.release.manifest import EarlierRelease, Manifest
from cantle.release.statement import became, declared_records, neighbours, noise, texts, unit_of
from cantle.release.words import method_in_words, printable
from cantle.trusted.core.budget import words_of

_BLANK = "  # to be filled in by the curator"
_SECTORS = "# data_product_sector:  # Technology, Healthcare, Education, Government, Energy or Finance"
_SPEND = "The whole spend of this release; pure DP, so delta is 0."


def registry(manifest: Manifest) -> str:
    """The text of registry.yaml."""
    m, promised, made = manifest, f"{manifest.guarantee}.", texts_of(manifest).made
    earlier = () if m.ledger is None else m.ledger.earlier
    stated = [*(f"- {one} (stated by the curator)" for one in m.facts.previous), m.facts.plans]
    parameters = f"    privacy_parameters:\n      epsilon: {words_of(m.receipt.epsilon_nano)}\n"
    legal = [f"Legal basis: {m.facts.legal_basis}."] if m.facts.legal_basis else []
    values = {
        "data_product_type": kind_of(m.kind).product,
        "description": _description(m),
        "publication_date": (m.created or "")[:10],
        "variant_name": "Pure DP" if m.private else "Custom",
        "data_domain": texts_of(m).domain,
        "unprotected_quantities": _unprotected(m),
        "privacy_unit": m.unit,
        "privacy_unit_details": f"Adjacent data sets: {neighbours(m)}.",
        "privacy_parameters_details": (_SPEND if m.private else promised) + _all_releases(m),
        "release_type": "Many releases" if earlier or m.facts.previous else "One release",
        "release_type_details": "\n".join(filter(None, [_earlier(earlier), *stated])),
        "post_processing": f"{made[0].upper()}{made[1:]}. All of it uses noisy answers and public dice only.",
        "mechanisms": _mechanisms(m),
        "notes": " ".join([f"Made by cantle {m.software.get('cantle')}.", promised, *texts_of(m).accuracy, *legal]),
    }
    template = Path(__file__).with_name("registry_template.yaml").read_text(encoding="utf-8")
    return template.format(
        kinds=len(m.receipt.paths),
        warning="" if m.private else f"# {m.guarantee}: do not register this release.\n",
        privacy_parameters=parameters if m.private else "",
        **{name: quoted(text) for name, text in values.items()},
        **_told(m),
    )


def _told(m: Manifest) -> dict[str, str]:
    """What the curator told, as YAML; blanks where something is missing."""
    facts = m.facts
    told = ("title", "purpose", "region", "actors", "epsilon_reason", "source")
    blanks = {name: str(getattr(facts, name)) for name in told}
    lists = {"data_curators": facts.curator, "registry_authors": facts.curator}
    named = "-".join([facts.title, *facts.curator, (m.created or "")[:4]]) if facts.title and facts.curator else ""
    return {
        **{name: quoted(text) if text else f'""{_BLANK}' for name, text in blanks.items()},
        **{name: f"[{', '.join(map(quoted, some))}]" if some else f'[""]{_BLANK}' for name, some in lists.items()},
        "url_slug": quoted(re.sub(r"[^a-z0-9]+", "-", named.lower()).strip("-")),
        "data_product_sector": f"data_product_sector: {quoted(facts.sector)}" if facts.sector else _SECTORS,
        "plans": "" if facts.plans else "  # plans for further releases: to be filled in by the curator",
    }


def quoted(text: str) -> str:
    """A text in quotes that JSON and YAML both read; characters that do not print are escaped, because YAML may refuse
    them.

    >>> print(quoted('one\\ntwo: "three"'))
    "one\\ntwo: \\"three\\""
    """
    return json.dumps("\n".join(map(printable, text.split("\n"))), ensure_ascii=False)


# ------------------------------------------------------------------------------------------------- the values


def _description(m: Manifest) -> str:
    kind = kind_of(m.kind)
    sound = "Differentially private data" if m.private else f"{m.guarantee}. {kind.bare}"
    making = kind.how.format(n=m.summary["records"])
    said = f"{sound}: {making}. Method {method_in_words(m)}."
    period = f"Period of the data: {m.facts.period}." if m.facts.period else ""
    return " ".join(filter(None, [m.facts.description, said, period]))


def _unprotected(m: Manifest) -> str:
    if not m.private:
        return f"{m.guarantee}."
    text = (
        "None: nothing is computed from the data without noise. Public input, chosen without looking at the data: the "
        "schema (names, bounds, grids, categories and their order), epsilon and all parameters"
    )
    if declared_records(m) is not None:
        text += f", among them the number of records, declared as {declared_records(m)}"
    return f"{text}. Not covered: {unit_of(m)['beyond']}"


def _all_releases(m: Manifest) -> str:
    line = m.ledger
    if not line:
        return " No ledger was kept of other releases from the same data."
    cap = "no cap is set" if line.cap_nano is None else f"the cap is {words_of(line.cap_nano)}"
    return (
        f" Ledger of data set {line.dataset}: release {line.sequence}; all releases up to this one spend epsilon "
        f"{words_of(line.spent_nano)} together, and {cap}."
    )


def _earlier(earlier: tuple[EarlierRelease, ...]) -> str:
    listed = [f"- {e.time}: {e.method}, epsilon {words_of(e.epsilon_nano)}, {became(e)}" for e in earlier]
    return "\n".join(["Earlier releases from the same data, from the ledger:", *listed]) if listed else ""


def _mechanisms(m: Manifest) -> str:
    verbs = sorted({charge.verb for charge in m.receipt.charges()})
    software = ", ".join(f"{name} {version}" for name, version in sorted(m.software.items()))
    return "\n".join(
        [
            *(f"- {texts()['verbs'].get(verb, verb)}" for verb in verbs),
            f"- Noise: {noise(m)}.",
            "- Integer counts, rational rates, exact samplers: no floating-point number decides a draw.",
            "- Timing, memory and caches of the machine that runs it are not protected; readers never reach it.",
            f"- Software: {software}. Schema sha256 {m.schema_sha256}.",
            f"- Access to the data before it is published: {m.facts.access or 'only the curator can say.'}",
        ]
    )
