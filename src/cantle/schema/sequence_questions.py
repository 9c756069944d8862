"""What a question about sequences may name: their length, first and last symbol, and strings of symbols.

`contains 'a > b'` holds for a sequence in which b follows a directly, `contains 'a > ... > b'` for one in which it
follows later (or directly). If no symbol of the alphabet has a blank in it, blanks do instead of signs: 'a ... b'.
"""

from __future__ import annotations

import re

from cantle.schema.code_sets import Key
from cantle.schema.fields import Field
from cantle.schema.items import SPACE, Universe
from cantle.schema.question_columns import Misfit, Token, Vocabulary, WholeNumber, column_of

LATER = "..."
MOST_SYMBOLS = 64
"""Most symbols of a string in a question."""

Pattern = tuple[tuple[int, ...], ...]
"""Strings of codes, each of which comes after the end of the one before it."""


class SequenceVocabulary(Vocabulary):
    """All that a question about a release of sequences may name."""

    def __init__(self, universe: Universe, longest: int) -> None:
        ends = [Field(name=name, categories=tuple(map(str, universe.items))) for name in ("first", "last")]
        super().__init__([WholeNumber("length"), *(column_of(one.attribute(), one) for one in ends)], universe)
        self._plain = not any(re.search(SPACE, str(one)) for one in universe.items)
        self._longest = longest

    def item(self, value: Token) -> Key:
        """The key of the question whether a sequence contains a string."""
        text = value.text
        if ">" not in text and (self._plain or LATER in text.split(" ")):
            text = " > ".join(text.split())
        symbols = [one.strip() for one in text.split(">")]
        if not all(symbols) or symbols[0] == LATER or symbols[-1] == LATER:
            raise Misfit("a string begins and ends with a symbol; write 'a > b', or 'a > ... > b' for a later b")
        if len(symbols) > min(MOST_SYMBOLS, 2 * self._longest):
            raise Misfit(f"a string in a question has at most {MOST_SYMBOLS} symbols")
        codes = [LATER if one == LATER else str(self._code(Token("text", one, value.at))) for one in symbols]
        return " ".join(codes)


def pattern_of(key: Key) -> Pattern:
    """The strings of codes in the key of such a question.

    >>> pattern_of("3 4 ... 0")
    ((3, 4), (0,))
    """
    return tuple(tuple(map(int, part.split())) for part in str(key).split(LATER) if part.split())
