"""Questions as people write them: `age >= 65 and diabetes == 'yes'`. They are parsed, never run as code.

    rule       = question [ "->" question ] | column "->" column
    question   = both { "or" both }
    both       = single { "and" single }
    single     = "not" single | "(" question ")" | "contains" item | comparison
    comparison = side sign side [ sign side ]
               | column [ "not" ] "in" "(" value { "," value } ")"
               | side [ "not" ] "between" side "and" side
               | column "is" [ "not" ] "null"
               | place [ "not" ] "within" "(" low lat "," low lon "," high lat "," high lon ")"
               | place [ "not" ] "within" number ("m" | "km") "of" "(" lat "," lon ")"
               | column                                            (of truth values)
    side       = part { ("+" | "-") part }                         (see cantle.schema.sums)
    part       = value | [ number "*" ] column | column "*" number

Signs are ==, =, !=, <>, <, <=, >, >=. Names and texts may be in quotes of any kind; a name that is also a word of the
language, or that has blanks in it, needs them. Everything that a question names is in the schema, so it is public.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NoReturn, TypeVar

from cantle.errors import ParameterError, raise_alone
from cantle.schema.code_sets import EVERYTHING, CodeSet, OneColumn, Question, join, negated
from cantle.schema.declared_values import number_in
from cantle.schema.documents import fail
from cantle.schema.places import Area
from cantle.schema.question_columns import TURNED, ListsOf, Misfit, Named, Numeric, Place, Vocabulary
from cantle.schema.question_words import KEYWORDS, Token, refusal, tokens_of
from cantle.schema.sums import Side, Total, compare, total

Result = TypeVar("Result")

DEEPEST = 100
"""Most nested parentheses and `not`."""

_SIGNS = {"==": "==", "=": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_CLOSING = {"(": ")", "[": "]"}


def parse(question: str, vocabulary: Vocabulary) -> Question:
    """The question in codes; an empty question holds for all records. Raises a ParameterError that points at an
    error."""
    if not isinstance(question, str):
        raise ParameterError(f'a question is a text such as "age >= 65", got {type(question).__name__}')
    return EVERYTHING if not question.strip() else _Parser(question, vocabulary).read(_Parser.whole)


def parse_rule(text: str, vocabulary: Vocabulary) -> list[Question] | tuple[str, str]:
    """The conditions of a rule, of which the first stands alone or on the left of an arrow; of an arrow between the
    names of two columns these. Raises a ParameterError that points at an error, or a SchemaError."""
    return _Parser(text, vocabulary).read(_Parser.rule)


def parse_sum(text: str, vocabulary: Vocabulary) -> Total:
    """A sum of columns, such as `end - start`. Raises a ParameterError that points at an error."""
    return _Parser(text, vocabulary).read(_Parser.sum_alone)


class _Parser:
    """Reads the tokens of one question from left to right."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self._text, self._vocabulary = text, vocabulary
        self._tokens, self._at, self._depth = tokens_of(text), 0, 0
        self._about = self._tokens[0]
        """The word to point at if something does not fit."""

    def read(self, part: Callable[[_Parser], Result]) -> Result:
        """A whole text of one of these kinds."""
        try:
            return part(self)
        except Misfit as why:
            raise_alone(self._refusal(str(why), self._about))

    def whole(self) -> Question:
        question = self._question()
        self._expect_end()
        return question

    def rule(self) -> list[Question] | tuple[str, str]:
        arrows = [at for at, token in enumerate(self._tokens) if token.says("->")]
        last = len(self._tokens) - 2
        if len(arrows) > 1 or arrows in ([0], [last]):
            rule = f"{self._text!r} is not a condition, or two of them with one arrow between"
            fail("rules", rule, "write `age < 15 -> income is null`")
        if arrows == [1] and last == 2:
            names = [token.text for token in self._tokens[:3:2] if token.kind in ("word", "text")]
            columns = [self._vocabulary.columns[name] for name in names if name in self._vocabulary.columns]
            if len(columns) == 2 and columns[1].truth() is None:
                return str(columns[0].key), str(columns[1].key)
        conditions = [self._question()]
        if self._took("->"):
            conditions.append(self._question())
        self._expect_end()
        return conditions

    def _expect_end(self) -> None:
        if self._next.says(")"):
            self._refuse("a closing parenthesis too many")
        if self._next.kind != "end":
            self._refuse("expected and, or, or the end of the question")

    def sum_alone(self) -> Total:
        side = self._side(None)
        if self._next.kind != "end":
            self._refuse("expected +, - or the end of the sum")
        self._about = side.start
        return total(side.columns, side.values)

    # ---- words --------------------------------------------------------------------------------------------

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def _took(self, *words: str) -> bool:
        """Whether the next word is one of these; if so, it is consumed."""
        matches = self._next.says(*words)
        self._at += matches
        return matches

    def _expect(self, word: str, after: str) -> None:
        if not self._took(word):
            self._refuse(f"expected {word!r} {after}")

    def _refuse(self, message: str, token: Token | None = None) -> NoReturn:
        raise self._refusal(message, token or self._next)

    def _refusal(self, message: str, token: Token) -> ParameterError:
        place = "at the end" if token.kind == "end" else f"at character {token.at + 1}"
        return refusal(self._text, token.at, f"{message} ({place} of the question)")

    # ---- grammar ------------------------------------------------------------------------------------------

    def _question(self) -> Question:
        parts = [self._both()]
        while self._took("or"):
            parts.append(self._both())
        return join(False, parts) if len(parts) > 1 else parts[0]

    def _both(self) -> Question:
        parts = [self._single()]
        while self._took("and"):
            parts.append(self._single())
        return join(True, parts) if len(parts) > 1 else parts[0]

    def _single(self) -> Question:
        start = self._next
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse(f"more than {DEEPEST} parentheses or `not` are inside each other; write it flatter")
        if self._took("not"):
            question = negated(self._single())
        elif self._took("("):
            question = self._question()
            self._expect(")", f"to close the one at character {start.at + 1}")
        elif self._vocabulary.has_items and self._took("contains"):
            question = self._item(self._vocabulary)
        else:
            question = self._comparison()
        self._depth -= 1
        return question

    def _item(self, among: Vocabulary | ListsOf) -> Question:
        return OneColumn(among.item(self._value()), CodeSet.of([1], 2))

    def _comparison(self) -> Question:
        left = self._side(None)
        if left.column is not None:
            question = self._of_column(left.column)
            if question is not None:
                return question
        elif self._took("between"):
            return self._between(left)
        after = left.value.text if left.value is not None else "a sum"
        sign, middle = self._sign(f"after {after}"), self._side(left)
        parts = [self._compared(left, sign, middle)]
        if self._is_comparison():
            second = self._sign("")
            right = self._side(middle)
            parts.append(self._compared(middle, second, right))
            if _may_skip(left, sign, middle, second, right):  # start <= end holds where the middle is missing too
                parts.append(self._compared(left, min(sign, second, key=len), right))
        return join(True, parts)

    def _of_column(self, column: Named) -> Question | None:
        """What is said about a single column; None if it is compared."""
        turned = self._took("not")
        if isinstance(column, Place) and self._took("within"):
            question: Question = OneColumn(column.key, self._area(column))
        elif isinstance(column, ListsOf) and self._took("contains"):
            question = self._item(column)
        elif self._took("in"):
            question = column.question(self._listed(column))
        elif self._took("between"):
            question = self._between(Side([(Fraction(1), column)]))
        elif turned:
            self._refuse("expected in or between after not")
        elif self._took("is"):
            return column.question(self._null(column))
        elif self._is_comparison():
            return None
        else:
            return column.question(self._truth(column))
        # a missing value is neither in a list nor outside
        return join(True, [negated(question), column.question(column.there)]) if turned else question

    def _area(self, column: Place) -> Area:
        """The area after `within`: a box, or a circle."""
        start = self._next
        if start.says("(", "["):
            corners = self._point(4)
            self._about = start
            return column.box(corners)
        radius, unit = self._value(), self._take()
        if not unit.says("m", "km"):
            self._refuse("expected m or km after the radius", unit)
        self._expect("of", "and a point (lat, lon) after the radius")
        centre = self._point(2)
        self._about = start
        return column.circle(radius, 1000 if unit.says("km") else 1, centre)

    def _point(self, numbers: int) -> list[Token]:
        """So many numbers in brackets."""
        start = self._next
        if not self._took("(", "["):
            self._refuse("expected a point such as (40.75, -73.99), latitude first")
        found = [self._value()]
        while self._took(","):
            found.append(self._value())
        self._expect(_CLOSING[start.text], "or a comma after the coordinates")
        if len(found) != numbers:
            what = "(low lat, low lon, high lat, high lon)" if numbers == 4 else "(lat, lon)"
            self._refuse(f"expected {numbers} numbers {what}", start)
        return found

    def _between(self, side: Side) -> Question:
        low = self._side(side)
        self._expect("and", "between the two values")
        parts = [self._compared(side, ">=", low), self._compared(side, "<=", self._side(side))]
        return join(True, parts)

    def _compared(self, left: Side, sign: str, right: Side) -> Question:
        """One side compared with another."""
        if left.column is not None and right.value is not None:
            return left.column.question(self._codes(left.column, sign, right.value))
        if right.column is not None and left.value is not None:
            return right.column.question(self._codes(right.column, TURNED[sign], left.value))
        if not left.columns and not right.columns:
            self._refuse("expected a column on one side of the comparison", right.start)
        self._about = left.start
        return compare(left, sign, right)

    def _is_comparison(self) -> bool:
        return self._next.kind == "sign" and self._next.text in _SIGNS

    def _sign(self, after: str) -> str:
        if not self._is_comparison():
            self._refuse(f"expected a comparison (==, !=, <, <=, >, >=) {after}")
        return _SIGNS[self._take().text]

    # ---- sums ---------------------------------------------------------------------------------------------

    def _side(self, other: Side | None) -> Side:
        """One side of a comparison; `other` is the side on the left of it."""
        side = Side(start=self._next)
        self._part(side, other, Fraction(-1 if self._took("-") else 1))
        while self._next.kind == "sign" and self._next.says("+", "-") or self._is_signed_number():
            factor = Fraction(1)
            if not self._is_signed_number():
                factor = Fraction(-1 if self._take().text == "-" else 1)
            self._part(side, other, factor)
        return side

    def _is_signed_number(self) -> bool:
        return self._next.kind == "number" and self._next.text[0] in "+-"

    def _part(self, side: Side, other: Side | None, factor: Fraction) -> None:
        """One part of a sum: a value, or a column, perhaps times a number."""
        token = self._next
        if token.kind in ("number", "date", "length"):
            self._take()
            if not self._took("*"):
                side.values.append((factor, token))
                return
            factor *= self._factor(token)
        elif self._is_value(other) and not side.columns:
            side.values.append((factor, self._value()))
            return
        side.columns.append((factor, self._column()))
        while self._took("*"):
            if self._next.kind != "number":
                self._refuse("cantle can keep sums and differences of columns, and no products of two columns")
            side.columns[-1] = side.columns[-1][0] * self._factor(self._take()), side.columns[-1][1]

    def _factor(self, token: Token) -> Fraction:
        number = number_in(token.text)
        if not number:
            self._refuse("expected a number other than 0 before or after *", token)
        return number

    def _is_value(self, other: Side | None) -> bool:
        """Whether the next word is a value, not a column; only the right side of a comparison may begin with a text."""
        token = self._next
        if other is None or token.kind not in ("word", "text") or token.says(*KEYWORDS):
            return other is not None and (token.kind not in ("word", "text") or token.says(*KEYWORDS))
        own = [column.name for _, column in other.columns]
        numbers = all(isinstance(column, Numeric) for _, column in other.columns)
        if token.text not in self._vocabulary.columns or token.text in own:
            return not (own and numbers and token.kind == "word")  # a word is no number: a column is misspelt
        return token.kind == "text" and not numbers

    def _column(self) -> Named:
        token = self._next
        if token.kind not in ("word", "text") or token.says(*KEYWORDS):
            named = "a column" + (", or contains and an item" if self._vocabulary.has_items else "")
            self._refuse(f"expected {named}; known: {', '.join(list(self._vocabulary.columns)[:12])}")
        self._about = self._take()
        return self._vocabulary.column(token.text)

    def _value(self) -> Token:
        if self._next.kind not in ("number", "date", "text", "word") or self._next.says(*KEYWORDS):
            self._refuse("expected a value: a number, a date such as 2024-12-31, or a text in quotes")
        self._about = self._take()
        return self._about

    def _listed(self, column: Named) -> CodeSet:
        """The codes of `in (a, b)`, or of `in a` for one category or group of a hierarchy."""
        start = self._next
        if not self._took("(", "["):
            return self._codes(column, "==", self._value())
        codes = self._codes(column, "==", self._value())
        while self._took(","):
            codes = codes.union(self._codes(column, "==", self._value()))
        self._expect(_CLOSING[start.text], "or a comma in the list of values")
        return codes

    def _null(self, column: Named) -> CodeSet:
        turned = self._took("not")
        self._expect("null", "after is")
        return column.there if turned else column.there.complement()

    def _truth(self, column: Named) -> CodeSet:
        codes = column.truth()
        if codes is None:
            self._refuse(f"expected a comparison after {column.name}: ==, !=, <, <=, >, >=, in, between, is null")
        return codes

    def _codes(self, column: Named, sign: str, value: Token) -> CodeSet:
        self._about = value
        return column.codes(sign, value)


def _may_skip(left: Side, first: str, middle: Side, second: str, right: Side) -> bool:
    """Whether a chain such as `start <= middle <= end` of three different columns also says something of its ends."""
    names = [[column.name for _, column in side.columns] for side in (left, middle, right)]
    return first[0] == second[0] and first[0] in "<>" and all(names) and not set(names[0]) & set(names[2])
