"""The words of questions and rules: dates, lengths of time, numbers, texts in quotes, signs and names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cantle.errors import ParameterError

LONGEST = 20_000
_SHAPES = {
    "blank": r"\s+",
    "date": r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?(?![\w.])",
    "length": r"\d+ ?(?:(?:second|minute|hour|day)s?|sec|min|[shd])(?![\w.])",
    "number": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:(?![\w.])|(?=k?m\b))",
    "text": r"'(?:[^']|'')*'" + r'|"(?:[^"]|"")*"' + r"|`(?:[^`]|``)*`",
    "sign": r"->|==|!=|<>|<=|>=|[=<>()\[\],+*-]",
    "word": r"[^\W\d](?:[\w.]|-(?!>))*",
}
KEYWORDS = ("and", "or", "not", "in", "between", "is", "null")
_TOKEN = re.compile("|".join(f"(?P<{kind}>{shape})" for kind, shape in _SHAPES.items()))


@dataclass(frozen=True)
class Token:
    """One word of a question: date, length (of time), number, text (in quotes), sign, word, or end."""

    kind: str
    text: str
    at: int

    def says(self, *words: str) -> bool:
        """Whether the token is one of these signs or words, in upper or lower case."""
        return self.kind in ("sign", "word") and self.text.lower() in words


def refusal(question: str, at: int, message: str) -> ParameterError:
    """The error that points at a position in a question; only the part around it is shown if the question is long."""
    start, end = max(0, at - 60), at + 60
    shown = "".join(" " if one.isspace() else one for one in question[start:end])
    return ParameterError(f"{message}\n  {shown}\n  {' ' * (at - start)}^")


def quoted(name: str) -> str:
    """A name as questions have it: in quotes if it is no plain word."""
    plain = re.fullmatch(_SHAPES["word"], name) and name.lower() not in KEYWORDS and "-" not in name
    return name if plain else "`" + name.replace("`", "``") + "`"


def tokens_of(question: str) -> list[Token]:
    """The tokens of a question, and an end."""
    if len(question) > LONGEST:
        raise ParameterError(f"a question has at most {LONGEST:,} characters, this one {len(question):,}; ask in parts")
    tokens, at = list[Token](), 0
    while at < len(question):
        match = _TOKEN.match(question, at)
        if match is None:
            raise refusal(question, at, _unreadable(question, at))
        kind, text = str(match.lastgroup), match.group()
        if kind == "text":
            text = text[1:-1].replace(text[0] * 2, text[0])
        if kind != "blank":
            tokens.append(Token(kind, text, at))
        at = match.end()
    return [*tokens, Token("end", "", len(question))]


def _unreadable(question: str, at: int) -> str:
    """Why no word begins at a character."""
    if question[at] in "'\"`":
        return f"the quote at character {at + 1} is not closed; add another {question[at]}"
    if question[at].isdigit() or question[at] in "+-.":
        return f"what starts at character {at + 1} is not a number or a date; write 12.5 or 2024-12-31"
    words = {"&": "write `and`", "|": "write `or`", "~": "write `not`", "!": "write `not`, or != between two values"}
    fix = words.get(question[at], "put names and texts in quotes")
    return f"character {at + 1} ({question[at]!r}) has no meaning here; {fix}"
