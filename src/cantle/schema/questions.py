"""Questions as people write them: `age >= 65 and diabetes == 'yes'`. They are parsed, never run as code.

    question   = both { "or" both }
    both       = single { "and" single }
    single     = "not" single | "(" question ")" | "contains" item | comparison
    comparison = column sign value | value sign column [ sign value ]
               | column [ "not" ] "in" "(" value { "," value } ")"
               | column [ "not" ] "between" value "and" value
               | column "is" [ "not" ] "null"
               | column                                            (of truth values)

Signs are ==, =, !=, <>, <, <=, >, >=. Names and texts may be in quotes of any kind; a name that is also a word of the
language, or that has blanks in it, needs them. Everything that a question names is in the schema, so it is public.
"""

from __future__ import annotations

from typing import NoReturn

from cantle.errors import ParameterError, raise_alone
from cantle.schema.code_sets import EVERYTHING, CodeSet, OneColumn, Question, join, negated
from cantle.schema.question_columns import Column, Misfit, Vocabulary
from cantle.schema.question_tokens import Token, refuse, tokens_of

DEEPEST = 100
"""Most nested parentheses and `not`."""

_SIGNS = {"==": "==", "=": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CLOSING = {"(": ")", "[": "]"}
_KEYWORDS = ("and", "or", "not", "in", "between", "is", "null")


def parse(question: str, vocabulary: Vocabulary) -> Question:
    """The question in codes; an empty question holds for all records. Raises a ParameterError that points at an
    error."""
    if not isinstance(question, str):
        raise ParameterError(f'a question is a text such as "age >= 65", got {type(question).__name__}')
    return EVERYTHING if not question.strip() else _Parser(question, vocabulary).whole()


class _Parser:
    """Reads the tokens of one question from left to right."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self._text, self._vocabulary = text, vocabulary
        self._tokens, self._at, self._depth = tokens_of(text), 0, 0

    def whole(self) -> Question:
        question = self._question()
        if self._next.kind != "end":
            what = "a closing parenthesis too many" if self._next.says(")") else "and, or, or the end of the question"
            self._refuse(f"expected {what}" if "too many" not in what else what)
        return question

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
        token = token or self._next
        place = "at the end" if token.kind == "end" else f"at character {token.at + 1}"
        refuse(self._text, token.at, f"{message} ({place} of the question)")

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
            question = self._item()
        else:
            question = self._comparison()
        self._depth -= 1
        return question

    def _item(self) -> Question:
        value = self._value()
        try:
            return OneColumn(self._vocabulary.item(value), CodeSet.of([1], 2))
        except Misfit as why:
            raise_alone(self._error(why, value))

    def _comparison(self) -> Question:
        if self._next.kind in ("number", "date"):
            return self._value_first()
        column = self._column()
        turned = self._took("not")
        if self._took("in"):
            codes = self._listed(column)
        elif self._took("between"):
            low = self._value()
            self._expect("and", "between the two values")
            codes = self._codes(column, ">=", low).intersection(self._codes(column, "<=", self._value()))
        elif turned:
            self._refuse("expected in or between after not")
        elif self._took("is"):
            return OneColumn(column.key, self._null(column))
        elif self._next.text in _SIGNS and self._next.kind == "sign":
            sign = _SIGNS[self._take().text]
            codes = self._codes(column, sign, self._value())
        else:
            return OneColumn(column.key, self._truth(column))
        not_null = CodeSet.span(0, column.values, column.size)
        return OneColumn(column.key, codes.complement().intersection(not_null) if turned else codes)

    def _value_first(self) -> Question:
        """18 <= age, or 18 <= age < 65."""
        value = self._take()
        sign = self._sign(f"after {value.text}")
        column = self._column()
        codes = self._codes(column, _TURNED[sign], value)
        if self._next.kind == "sign" and self._next.text in _SIGNS:
            sign = _SIGNS[self._take().text]
            codes = codes.intersection(self._codes(column, sign, self._value()))
        return OneColumn(column.key, codes)

    def _sign(self, after: str) -> str:
        if self._next.kind != "sign" or self._next.text not in _SIGNS:
            self._refuse(f"expected a comparison (==, !=, <, <=, >, >=) {after}")
        return _SIGNS[self._take().text]

    def _column(self) -> Column:
        token = self._next
        if token.kind not in ("word", "text") or token.says(*_KEYWORDS):
            named = "a column" + (", or contains and an item" if self._vocabulary.has_items else "")
            self._refuse(f"expected {named}; known: {', '.join(list(self._vocabulary.columns)[:12])}")
        try:
            column = self._vocabulary.column(self._take().text)
        except Misfit as why:
            raise_alone(self._error(why, token))
        return column

    def _value(self) -> Token:
        if self._next.kind not in ("number", "date", "text", "word") or self._next.says(*_KEYWORDS):
            self._refuse("expected a value: a number, a date such as 2024-12-31, or a text in quotes")
        return self._take()

    def _listed(self, column: Column) -> CodeSet:
        """The codes of `in (a, b)`, or of `in a` for one category or group of a hierarchy."""
        start = self._next
        if not self._took("(", "["):
            return self._codes(column, "==", self._value())
        codes = self._codes(column, "==", self._value())
        while self._took(","):
            codes = codes.union(self._codes(column, "==", self._value()))
        self._expect(_CLOSING[start.text], "or a comma in the list of values")
        return codes

    def _null(self, column: Column) -> CodeSet:
        turned = self._took("not")
        self._expect("null", "after is")
        not_null = CodeSet.span(0, column.values, column.size)
        return not_null if turned else not_null.complement()

    def _truth(self, column: Column) -> CodeSet:
        codes = column.truth()
        if codes is None:
            self._refuse(f"expected a comparison after {column.name}: ==, !=, <, <=, >, >=, in, between, is null")
        return codes

    def _codes(self, column: Column, sign: str, value: Token) -> CodeSet:
        if value.kind == "word" and value.text in self._vocabulary.columns and value.text != column.name:
            self._refuse("a column is compared with a value, not with another column; put texts in quotes", value)
        try:
            return column.codes(sign, value)
        except Misfit as why:
            raise_alone(self._error(why, value))

    def _error(self, why: Misfit, token: Token) -> ParameterError:
        try:
            self._refuse(str(why), token)
        except ParameterError as error:
            return error
