"""A made-up file of clinic visits, as messy as real ones: python make_visits.py visits.csv

It uses semicolons, Latin-1 text, decimal commas, dates in two forms, three ways to write a missing value, other
spellings, and several visits per patient. The people do not exist; the seed is fixed, so everybody who follows
docs/tutorial.md sees the same file.
"""

import random
import sys
from datetime import date, timedelta

CITIES = ("Basel", "Bern", "Genève", "Lausanne", "Zürich")
DEPARTMENTS = ("cardiology", "dermatology", "emergency", "maternity", "surgery")
MISSING = ("", "n/a", "?")
SEXES = {"F": ("f", "female", "w"), "M": ("m", "male")}


def visits(patients: int, dice: random.Random) -> list[str]:
    lines = []
    for number in range(patients):
        age, sex = round(dice.triangular(0, 98, 45)), dice.choice("FM")
        city = dice.choices(CITIES, (17, 13, 20, 14, 41))[0]
        for _ in range(dice.choices((1, 2, 3, 7), (60, 25, 14, 1))[0]):
            day = date(2025, 1, 1) + timedelta(days=dice.randrange(365))
            likely = (4 if age > 55 else 1, 2, 3, 3 if sex == "F" and 18 < age < 45 else 0, 2)
            department = dice.choices(DEPARTMENTS, likely)[0]
            weight = f"{min(3.5 + 4 * age, 74) * dice.uniform(0.75, 1.35):.1f}"
            stay = "yes" if dice.random() < (0.5 if department == "surgery" else 0.15) else "no"
            fields = [f"P{number:05d}", f"{day:%d.%m.%Y}", str(age), sex, city, department, weight, stay]
            lines.append(";".join(messed_up(fields, dice)))
    dice.shuffle(lines)
    return lines


def messed_up(fields: list[str], dice: random.Random) -> list[str]:
    """The fields of a visit with what people do to them: blanks, units, impossible ages, other spellings."""
    patient, day, age, sex, city, department, weight, stay = fields
    weight = weight.replace(".", ",") + dice.choices(("", " kg"), (9, 1))[0]
    if dice.random() < 0.2:
        day = f"{day[:2]}/{day[3:5]}/{day[8:]}"
    if dice.random() < 0.1:
        sex = dice.choice(SEXES[sex])
    if dice.random() < 0.05:
        city = f" {city} "
    if dice.random() < 0.05:
        department = department.upper()
    if dice.random() < 0.05:
        weight = dice.choice(MISSING)
    if dice.random() < 0.01:
        age = "999"
    elif int(age) > 90:
        age = "90+"
    return [patient, day, age, sex, city, department, weight, stay]


def main(path: str) -> None:
    dice = random.Random(2012)
    head = "patient;day;age;sex;city;department;weight;stay"
    with open(path, "w", encoding="latin-1", newline="\n") as file:
        file.write("\n".join([head, *visits(12_000, dice)]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
