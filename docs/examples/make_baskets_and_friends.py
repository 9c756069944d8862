"""Made-up shopping baskets and friendships, with their public schemas: python make_baskets_and_friends.py

It writes baskets.dat (one basket per line, items as numbers), friends.txt (one friendship per line), baskets.yaml and
friends.yaml. Nobody in them exists; the seed is fixed.
"""

import random
from pathlib import Path

ITEMS = 60


def baskets(number: int, dice: random.Random) -> list[str]:
    """Baskets in which items with low numbers are frequent, and each item often comes with the next one."""
    weights, lines = [1 / item for item in range(1, ITEMS + 1)], []
    for _ in range(number):
        items = set(dice.choices(range(1, ITEMS + 1), weights, k=dice.randint(1, 6)))
        items |= {item % ITEMS + 1 for item in items if dice.random() < 0.3}
        lines.append(" ".join(map(str, sorted(items))))
    return lines


def friends(people: int, number: int, dice: random.Random) -> list[str]:
    """Friendships of people, some of whom have many."""
    weights = [1 / (1 + k) ** 0.5 for k in range(people)]
    pairs = zip(dice.choices(range(people), weights, k=number), dice.choices(range(people), k=number), strict=True)
    return [f"{a} {b}" for a, b in pairs if a != b]


def main() -> None:
    dice = random.Random(2012)
    files = {
        "baskets.dat": baskets(20_000, dice),
        "baskets.yaml": ["kind: sets", f"items: {{minimum: 1, maximum: {ITEMS}}}"],
        "friends.txt": friends(4_000, 20_000, dice),
        "friends.yaml": ["kind: graph", "unit: node   # hides a person with all friendships"],
    }
    for name, lines in files.items():
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {', '.join(files)}")


if __name__ == "__main__":
    main()
