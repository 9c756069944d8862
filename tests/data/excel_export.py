"""A made-up export from Excel, as messy as real ones: python -m tests.data.excel_export FILE [RECORDS].

It has thirty columns in latin-1, separated by semicolons: decimal commas, points between thousands, currencies and
percent signs, dates in three formats, blanks around values, varying case, spelt-out values, marks of missing values,
free text with quotes and line breaks, customers with several lines, and about 1% of values that no schema can read.
"""

from __future__ import annotations

import sys
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Texts = NDArray[np.str_]
SCHEMA = Path(__file__).with_suffix(".yaml")
TOWNS = {
    "Dresden": ("01067", "SN"), "Leipzig": ("04109", "SN"), "Berlin": ("10115", "BE"), "Hamburg": ("20095", "HH"),
    "Hannover": ("30159", "NI"), "Köln": ("50667", "NW"), "Frankfurt": ("60311", "HE"), "Stuttgart": ("70173", "BW"),
    "München": ("80331", "BY"), "Erfurt": ("99084", "TH"),
}  # fmt: skip
JOBS = ["Büro", "Handel", "Pflege", "Technik", "Lehre", "Bau", "Verkehr", "Gastronomie", "keiner"]
NOTES = ["", "ruft zurück", 'sagt "später"', "Termin; siehe Akte", "zwei\nZeilen", "Straße unleserlich", "ok"]
MARKS = ["", "k.A.", "#NV", "-"]
DIRT = ["?", "siehe Akte", "ca. 3-4", "unbek.", "xx", "1/2", "#WERT!"]
MISSING, DIRTY = 0.04, 0.008
"""The shares of values that are missing, and of values that no schema can read."""


class Sheet:
    """Draws columns of texts with the inconsistencies of values typed in a hurry."""

    def __init__(self, records: int, seed: int = 1) -> None:
        self.dice, self.size = np.random.default_rng(seed), records

    def choice(self, values: list[str], weights: list[float] | None = None) -> Texts:
        p = None if weights is None else np.array(weights) / sum(weights)
        return np.array(values)[self.dice.choice(len(values), self.size, p=p)]

    def mixed(self, *spellings: Texts) -> Texts:
        """Each value in one of several spellings."""
        return np.choose(self.dice.integers(0, len(spellings), self.size), np.stack(spellings))

    def cased(self, values: Texts) -> Texts:
        return self.mixed(values, values, np.char.upper(values), np.char.lower(values))

    def number(self, values: NDArray[np.float64], decimals: int, *, group: bool = False) -> Texts:
        """Numbers in German notation."""
        swap = str.maketrans(",.", ".,")
        texts = [f"{value:{',' if group else ''}.{decimals}f}".translate(swap) for value in values.tolist()]
        return np.array(texts)

    def days(self, first: date, last: date) -> Texts:
        """Dates in three formats."""
        drawn = self.dice.integers(0, (last - first).days + 1, self.size).tolist()
        known = [first + timedelta(days=day) for day in drawn]
        forms = ("%d.%m.%Y", "%d.%m.%y", "%Y-%m-%d")
        return self.mixed(*(np.array([day.strftime(form) for day in known]) for form in forms))

    def moments(self) -> Texts:
        drawn = self.dice.integers(0, 3650 * 24 * 60, self.size).tolist()
        return np.array([(datetime(2015, 1, 1) + timedelta(minutes=m)).strftime("%d.%m.%Y %H:%M") for m in drawn])

    def worn(self, values: Texts) -> Texts:
        """The values, with blanks around some; some are missing, and a few cannot be read."""
        values = self.mixed(values, values, values, np.char.add(" ", values), np.char.add(values, "  "))
        at = self.dice.random(self.size)
        values = np.where(at < MISSING, self.choice(MARKS), values)
        return np.where(at > 1 - DIRTY, self.choice(DIRT), values)


def columns(records: int, seed: int = 1) -> dict[str, Texts]:
    """All thirty columns as text."""
    sheet = Sheet(records, seed)
    dice, many = sheet.dice, sheet.size
    town = sheet.choice(list(TOWNS), [5, 6, 20, 12, 5, 10, 8, 7, 14, 3])
    age = dice.gamma(9, 5, many).clip(0, 100).astype(int)
    pay = dice.lognormal(7.7, 0.5, many).clip(300, 11_000)
    euro = sheet.number(pay, 2, group=True)
    height = dice.normal(172, 9, many).clip(120, 210).astype(int).astype(str)
    customers = dice.integers(0, max(1, many * 3 // 4), many)
    plain = {
        "Geschlecht": sheet.mixed(*(sheet.choice(words, [48, 50, 2]) for words in
                                    (["m", "w", "d"], ["M", "W", "D"], ["männlich", "weiblich", "divers"]))),
        "Geburtsdatum": sheet.days(date(1970, 1, 1), date(2005, 12, 31)),
        "Alter": np.where(age >= 90, "90+", age.astype(str)),
        "PLZ": np.array([TOWNS[one][0] for one in town.tolist()]),
        "Ort": sheet.cased(town),
        "Land": np.array([TOWNS[one][1] for one in town.tolist()]),
        "Einkommen": sheet.mixed(np.char.add(euro, " EUR"), np.char.add("EUR ", euro), euro),
        "Miete": sheet.number((pay * dice.uniform(0.2, 0.4, many)).clip(150, 2900), 2),
        "Rabatt": np.char.add(sheet.number(dice.choice([0, 2.5, 5, 7.5, 10, 20], many), 1), " %"),
        "Kinder": sheet.choice(["keine", "0", "1", "2", "3", "4"], [30, 20, 20, 20, 8, 2]),
        "Haushalt": sheet.choice(["1", "2", "3", "4", "5", "6"], [35, 30, 15, 12, 6, 2]),
        "Familienstand": sheet.cased(sheet.choice(["ledig", "verheiratet", "geschieden", "verwitwet"], [6, 6, 2, 1])),
        "Bildung": sheet.choice(["keine", "Hauptschule", "Realschule", "Abitur", "Studium"], [4, 20, 31, 20, 25]),
        "Beruf": sheet.cased(sheet.choice(JOBS)),
        "Arbeit": sheet.mixed(*(sheet.choice(words, [3, 2]) for words in (["ja", "nein"], ["J", "N"], ["x", "Nein"]))),
        "Versichert": sheet.choice(["WAHR", "FALSCH"], [9, 1]),
        "Eintritt": sheet.moments(),
        "Besuch": sheet.days(date(2020, 1, 1), date(2024, 12, 31)),
        "Besuche": sheet.number(dice.gamma(2, 200, many).clip(0, 2900).round(), 0, group=True),
        "Score": sheet.number(dice.beta(4, 2, many), 3),
        "Größe": np.char.add(height, " cm"),
        "Gewicht": np.char.add(sheet.number(dice.normal(76, 14, many).clip(35, 190), 1), " kg"),
        "Temperatur": sheet.number(dice.normal(10, 9, many).clip(-20, 40), 1),
        "Klasse": sheet.choice(["A1", "A2", "B1", "B2", "C1", "C2"]),
        "Kanal": sheet.cased(sheet.choice(["Filiale", "Tel.", "Telefon", "Web", "Internet"])),
        "Zahlart": sheet.cased(sheet.choice(["bar", "Karte", "Rechnung"], [2, 6, 2])),
        "Umsatz": np.char.add(sheet.number(dice.normal(4000, 3000, many).clip(-5000, 50_000), 2, group=True), " EUR"),
    }  # fmt: skip
    worn = {name: sheet.worn(values) for name, values in plain.items()}
    ids = np.array([f"K{number:07d}" for number in customers.tolist()])
    names = np.array([f"Müller, Anna {number}" for number in customers.tolist()])
    return {"Kundennr": ids, "Name": names, "Bemerkung": sheet.choice(NOTES), **worn}


def write(path: Path, records: int, seed: int = 1) -> None:
    """Writes the export to a file, with the line ends and quotes of Excel."""
    held = columns(records, seed)
    lines = [
        ";".join(held),
        *(";".join(map(_cell, row)) for row in zip(*(c.tolist() for c in held.values()), strict=True)),
    ]
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("latin-1"))


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ';"\n') else text


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200_000)
