"""Keyword parameters of methods: accepted values, and messages of refusals."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle.interfaces.cli.app import publish_command
from cantle.interfaces.publishing import MethodName
from cantle.methods.catalogue import METHODS, methods_for
from cantle.methods.rps.method import PRESETS, RPS, RpsSettings
from cantle.methods.settings import echo, flag, maybe, one_of, read_settings, rules_of, setting, share, whole
from tests.laws.strategies import public_domain


@dataclass(frozen=True, kw_only=True)
class Toy:
    depth: int | None = setting(maybe(whole(0, 9), "auto"), shown=True)
    share: Fraction = setting(share())
    mode: str = setting(one_of("a", "b"))
    on: bool = setting(flag())


TOY_PRESETS = {"default": {"depth": None, "share": "1/2", "mode": "a", "on": True}}


def read(**given: Any) -> dict[str, Any]:
    return vars(read_settings(Toy, "toy", TOY_PRESETS, "default", given))


def test_defaults_come_from_the_preset_and_are_read_too() -> None:
    assert read() == {"depth": None, "share": Fraction(1, 2), "mode": "a", "on": True}


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"depth": 3}, 3),
        ({"depth": "3"}, 3),
        ({"depth": 3.0}, 3),
        ({"depth": np.int64(3)}, 3),
        ({"depth": "auto"}, None),
        ({"depth": None}, None),
        ({"share": 0.1}, Fraction(1, 10)),  # the decimal fraction, not the nearest float
        ({"share": "0.1"}, Fraction(1, 10)),
        ({"share": 0}, Fraction(0)),
        ({"share": Fraction(2, 7)}, Fraction(2, 7)),
        ({"mode": "b"}, "b"),
        ({"on": False}, False),
    ],
    ids=str,
)
def test_values_are_read_exactly(given: dict[str, Any], value: Any) -> None:
    settings = read(**given)[next(iter(given))]
    assert settings == value
    assert type(settings) is type(value)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"depth": 10}, "a whole number from 0 to 9, or auto"),
        ({"depth": -1}, "a whole number from 0 to 9, or auto"),
        ({"depth": 2.5}, "a whole number"),
        ({"depth": True}, "a whole number"),
        ({"depth": "deep"}, "a whole number"),
        ({"depth": float("nan")}, "a whole number"),
        ({"depth": float("inf")}, "a whole number"),
        ({"depth": [1]}, "a whole number"),
        ({"share": 1}, "a share from 0 to below 1"),
        ({"share": -0.1}, "a share"),
        ({"share": "1/0"}, "a share"),
        ({"share": False}, "a share"),
        ({"share": float("nan")}, "a share"),
        ({"share": None}, "a share"),
        ({"mode": "c"}, "one of a, b"),
        ({"mode": None}, "one of a, b"),
        ({"on": 1}, "true or false"),
        ({"on": "yes"}, "true or false"),
    ],
    ids=str,
)
def test_refusals_name_method_parameter_rule_and_value(given: dict[str, Any], rule: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read(**given)
    name, value = next(iter(given.items()))
    assert str(caught.value).startswith(f"toy parameter {name} must be {rule}")
    assert str(caught.value).endswith(f"got {value!r}")


def test_numpy_floats_are_shares_too() -> None:
    assert read(share=np.float64(0.25))["share"] == Fraction(1, 4)


@pytest.mark.parametrize("number", [2**53 - 3, 2**53 - 1])
def test_large_whole_numbers_are_whole(number: int) -> None:
    assert RPS(public_domain(), order_seed=number).settings.order_seed == number


def test_numbers_that_json_does_not_hold_exactly_are_refused() -> None:
    """A release states every parameter, and is written after the budget is spent."""
    with pytest.raises(ParameterError, match="order_seed must be a whole number"):
        RPS(public_domain(), order_seed=2**53)


def test_unknown_names_are_refused_with_a_hint() -> None:
    with pytest.raises(ParameterError, match=r"'dept'.* depth\?"):
        read(dept=3)
    with pytest.raises(ParameterError, match="'zzz'.*depth, mode, on"):
        read(zzz=3)
    with pytest.raises(ParameterError, match="toy has no preset 'fast'; use one of default"):
        read_settings(Toy, "toy", TOY_PRESETS, "fast", {})


def test_the_echo_is_exact_and_reads_back() -> None:
    settings = read(share="2/7")
    assert echo(Toy(**settings)) == {"depth": None, "share": "2/7", "mode": "a", "on": True}
    assert read(**echo(Toy(**settings))) == settings


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_names_every_parameter_and_reads_back(preset: str) -> None:
    assert set(PRESETS[preset]) == set(rules_of(RpsSettings))
    plan = RPS(public_domain(), preset=preset)
    again = plan.parameters()
    assert RPS(public_domain(), **again).parameters() == again


@pytest.mark.parametrize(
    "given",
    [
        {"quality": "mix:1"},
        {"quality": "mix:0:0"},
        {"quality": "mix:-1:2"},
        {"quality": "mix:1:x"},
        {"quality": "best"},
        {"stop": "count"},
        {"stop": "count:-1"},
        {"stop": "count:5+privtree:5"},
        {"stop": "count:5+count:6"},
        {"stop": "none+narrow:1"},
        {"stop": ""},
        {"stop": 5},
        {"levels": "geometric:0"},
        {"levels": "geometric:-1"},
        {"levels": "geometric:x"},
        {"levels": "geometric:1/0"},
        {"levels": "rising"},
        {"levels": 3},
    ],
    ids=str,
)
def test_rps_refuses_unknown_values(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=f"rps parameter {next(iter(given))} must be"):
        RPS(public_domain(), preset="paper", **given)


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ({"preset": "paper", "depth": None}, r"depth=auto needs the number of records: declare it \(records=N\)"),
        ({"preset": "paper", "summary": "depth"}, "summary=depth needs the number of records"),
        ({"preset": "paper", "values": "fitted"}, "values=fitted needs one-way tables: set oneway_share"),
        ({"oneway_share": "99/100"}, "leave nothing for the tree; lower one"),
        ({"stop": "count:5", "stop_share": 0}, "stop=count:5 needs a share of the budget: set stop_share"),
    ],
    ids=str,
)
def test_rps_refuses_combinations_that_cannot_work(given: dict[str, Any], fix: str) -> None:
    with pytest.raises(ParameterError, match=fix):
        RPS(public_domain(), **given)


@pytest.mark.parametrize("stop", ["count:5", "privtree:5", "narrow:2+count:5"])
def test_a_requested_stop_test_gets_a_share(stop: str) -> None:
    assert RPS(public_domain(), stop=stop).settings.stop_share == Fraction(1, 2)
    assert RPS(public_domain(), stop=stop, stop_share="1/5").settings.stop_share == Fraction(1, 5)
    for free in ({}, {"stop": "narrow:2"}):
        assert RPS(public_domain(), **free).settings.stop_share == 0


def test_the_help_of_publish_lists_the_parameters_that_people_set() -> None:
    help_text = " ".join((publish_command.__doc__ or "").split())
    for name, method in METHODS.items():
        shown = [one.name for one in fields(method.Settings) if one.metadata["shown"]]
        assert not shown or f"{name}: {', '.join(shown)}." in help_text


def test_compound_settings_are_parsed_once_and_echoed_as_given() -> None:
    plan = RPS(public_domain(), stop="count:5+narrow:2", quality="mix:2:1", levels="geometric:1.3")
    assert (plan.settings.stop.count, plan.settings.stop.narrow, plan.settings.stop.privtree) == (5, 2, None)
    assert (plan.settings.quality.score.even, plan.settings.quality.score.apart) == (2, 1)
    assert plan.settings.levels.ratio == Fraction(13, 10)
    echoed = plan.parameters()
    assert [echoed[name] for name in ("stop", "quality", "levels")] == ["count:5+narrow:2", "mix:2:1", "geometric:1.3"]


@pytest.mark.parametrize("name", ["stop", "quality", "levels"])
@pytest.mark.parametrize(
    "value", [3, 2.5, [1], {}, True, "", ":", "geometric:0", "geometric:x", "geometric:1:2"], ids=str
)
def test_malformed_compound_settings_are_refused_with_the_same_message(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"rps parameter {name} must be .*, got "):
        RPS(public_domain(), **{name: value})


def test_the_type_of_a_method_s_name_lists_every_method() -> None:
    assert set(get_args(MethodName)) == {"auto", *METHODS}


def test_methods_are_listed_by_their_names_and_kinds() -> None:
    assert len(METHODS) == len({*METHODS})
    for name, method in METHODS.items():
        assert method.name == name
        assert name in methods_for(method.kind)
