"""`auto` for sets: the universe decides, and for 9 to 20 items a noisy histogram of sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cantle
from cantle.errors import ParameterError
from cantle.methods.catalogue import make_method
from cantle.schema.sets import SetSchema


def schema(items: int) -> dict[str, Any]:
    return {"kind": "sets", "items": {"minimum": 1, "maximum": items}}


def sets(number: int, items: int) -> list[list[int]]:
    rng = np.random.default_rng(1)
    return [rng.choice(items, rng.integers(1, 5), replace=False).tolist() for _ in range(number)]


@pytest.mark.parametrize(("items", "given", "name"), [
    (1, {}, "diffpart"), (8, {}, "diffpart"), (9, {}, "auto"), (20, {}, "auto"), (21, {}, "baskets"),
    (5, {"pairs": "off"}, "baskets"), (15, {"pairs": "on"}, "baskets"), (30, {"pairs": "off"}, "baskets"),
    (15, {"cells": "tree"}, "diffpart"), (30, {"cells": "tree", "fanout": 3}, "diffpart"),
    (30, {"preset": "paper"}, "diffpart"),
])  # fmt: skip
def test_auto_chooses_by_the_universe_and_the_parameters(items: int, given: dict[str, Any], name: str) -> None:
    preset = given.pop("preset", "default")
    assert make_method(SetSchema.from_dict(schema(items)), "auto", preset, given).name == name


@pytest.mark.parametrize("given", [{"pairs": "off", "fanout": 3}, {"colour": 1}])
@pytest.mark.parametrize("items", [5, 15, 30])
def test_unknown_and_contradicting_parameters_are_refused(items: int, given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        make_method(SetSchema.from_dict(schema(items)), "auto", "default", given)


@pytest.mark.parametrize(("epsilon", "name"), [(20, "baskets"), (60, "diffpart")])
def test_sizes_of_sets_decide_for_9_to_20_items(tmp_path: Path, epsilon: int, name: str) -> None:
    """There are 2^13 possible sets, and about 200 records times epsilon. The ledger is charged before the choice."""
    ledger = tmp_path / "l.db"
    cantle.Ledger(ledger).cap("d", 100)
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "d"}
    release = cantle.publish(sets(200, 13), schema(13), epsilon=epsilon, insecure_seed=3, **paid)
    assert release.manifest.method == name
    assert [entry.method for entry in cantle.Ledger(ledger).account("d").entries] == ["auto"]
    whys = [charge.why for charge in release.manifest.receipt.charges()]
    assert whys[0] == "set sizes"
    assert len(whys) == {"baskets": len(set(whys)), "diffpart": 3}[name]
    assert ("accuracy of the release" in whys) == (release.accuracy.bought if release.accuracy else False)
    assert sum(charge.epsilon_nano for charge in release.manifest.receipt.charges()) == epsilon * 10**9
    release.verify()
    cantle.Release.load(release.save(tmp_path / "out")).verify()


def test_a_chosen_method_gives_the_same_bytes_as_that_method() -> None:
    """The questions of baskets are the same whether or not the first one served to choose the method."""
    data = sets(200, 15)
    one, two = (
        cantle.publish(data, schema(15), epsilon=2, insecure_seed=3, method=method) for method in ("auto", "baskets")
    )
    assert one.groups.equals(two.groups)
    assert one.records.equals(two.records)
