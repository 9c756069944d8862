"""Claim 11 with mosaic's questions: no hostile method that asks for tables of columns loses more than epsilon."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cantle.trusted.core.budget import Unit
from tests.effort import examples
from tests.laws.hostile_tables import RECORDS, TABLE_MOVES, TableGame
from tests.laws.tables_of_cells import engine_of


@examples(30)
@given(st.data())
def test_no_hostile_method_for_tables_of_columns_makes_a_path_lose_more_than_epsilon(data) -> None:
    game = TableGame(data.draw, engine_of(RECORDS), Unit(data.draw(st.integers(1, 2))))
    game.play(TABLE_MOVES)


@pytest.mark.parametrize("move", ["measure_tables", "choose_table", "search"])
def test_every_move_of_that_game_is_answered_and_refused(move: str) -> None:
    """Otherwise the game would prove nothing."""
    answered = set()

    @settings(max_examples=60, database=None, phases=[Phase.generate], derandomize=True)
    @given(st.data())
    def play(data) -> None:
        game = TableGame(data.draw, engine_of(RECORDS), Unit(1))
        with game.curator:
            getattr(game, move)()
            answered.add(game.nodes[0].spent > 0)
            game.finish()

    play()
    assert answered == {True, False}
