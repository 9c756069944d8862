"""Ways to write values in a column of text: other signs in numbers, and blanks or another case in categories.

Everything here maps one text by itself (docs/privacy.md, cleaning). A text that is not written as declared is missing;
nothing raises, warns or logs because of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
BLANKS += "\u2028\u2029\u202f\u205f\u3000"
"""The characters that Unicode calls white space: what trimming removes from both ends of a text, in every engine."""

_LETTERS = 0x1F000  # all letters that have two cases are below


@dataclass(frozen=True)
class NumberForm:
    """How numbers are written, as Frictionless names it: `decimalChar`, `groupChar` and `bareNumber`.

    Group separators are between digits before the decimals, with exactly three digits after the last one. With `bare`
    False, other characters may come before and after the number: signs of currencies, units, percent signs. These are
    dropped, so 5 % is 5. Digits, plus, minus and brackets are not among them: 3-4 or (5) is not a number. A sign may
    come before them (-€5) or after them (€-5).

    >>> import polars as pl
    >>> form = NumberForm(decimal=",", group=".", bare=False)
    >>> form.plain(pl.Series(["1.234,5", "€ -7", "12 %", "1.5", "3-4", "1,5e2"])).to_list()
    ['1234.5', '-7', '12', None, None, '1.5e2']
    """

    decimal: str = "."
    group: str | None = None
    bare: bool = True

    def plain(self, text: pl.Series) -> pl.Series:
        """The numbers in plain form, which any parser reads; null if a text is not a number of this form."""
        import polars as pl

        plain_text = text.str.replace(self._pattern, "$1$2$3$4$5")
        if self.group is not None:
            plain_text = plain_text.str.replace_all(f"[{self._groups}]", "")
        if self.decimal != ".":
            plain_text = plain_text.str.replace(self.decimal, ".", literal=True)
        return pl.select(pl.when(text.str.contains(self._pattern)).then(plain_text)).to_series()

    @cached_property
    def _groups(self) -> str:
        """The characters that count as group separators, for a class of a regular expression; no-break blanks count as
        blanks."""
        return r" \x{a0}\x{202f}" if self.group == " " else re.escape(self.group or "")

    @cached_property
    def _pattern(self) -> str:
        """The pattern. Its groups 1 and 2 are signs, of which at most one occurs, and 3 is the number; or 4 is the sign
        and 5 the number."""
        point, groups = re.escape(self.decimal), self._groups
        whole = rf"[0-9]{{1,3}}(?:[{groups}][0-9]{{2,3}})*[{groups}][0-9]{{3}}|[0-9]+" if groups else r"[0-9]+"
        power = r"(?:[eE][+-]?[0-9]+)?"
        number, fraction = rf"(?:{whole})(?:{point}[0-9]*)?{power}", rf"{point}[0-9]+{power}"
        before, after = "", r"\s*"
        if not self.bare:
            other = r"0-9+\-()\[\]"
            # "Rs.500" could mean 500 or 0.500: a text before the number must not end with a character that may begin
            # one
            before, after = rf"(?:[^{other}]*[^{other}{point}{'' if self.group == ' ' else groups}])?", rf"[^{other}]*"
        return rf"^\s*(?:([+-]?){before}([+-]?)({number})|([+-]?)({fraction})){after}$"


PLAIN = NumberForm()


def trimmed(text: str) -> str:
    """A text without blanks at its ends, as polars strips them."""
    return text.strip(BLANKS)


@dataclass(frozen=True)
class Folding:
    """A map from capitals to small letters, for looking texts up without regard to case.

    Case is ignored letter by letter: a capital whose small form is one letter means that letter, in any language and
    anywhere in a word. Only letters that occur in the listed texts are folded; others cannot match anyway.

    >>> Folding.of(["Male", "straße"])("MALE"), Folding.of(["Male"])("ÄMALE")
    ('male', 'Ämale')
    """

    capitals: str
    small: str

    @staticmethod
    def of(texts: Iterable[str]) -> Folding:
        """The folding that decides whether a text is one of these."""
        pairs = [(large, small) for small in sorted({c.lower() for c in "".join(texts)}) for large in _capitals(small)]
        return Folding("".join(large for large, _ in pairs), "".join(small for _, small in pairs))

    def __call__(self, text: str) -> str:
        return text.translate(str.maketrans(self.capitals, self.small))

    def series(self, text: pl.Series) -> pl.Series:
        """The same for many texts."""
        return text.str.replace_many(list(self.capitals), list(self.small)) if self.capitals else text


def _capitals(small: str) -> list[str]:
    return _all_capitals().get(small, [])


@lru_cache(maxsize=1)
def _all_capitals() -> dict[str, list[str]]:
    """The capitals of each small letter, for capitals whose small form is one letter."""
    capitals: dict[str, list[str]] = {}
    for letter in map(chr, range(_LETTERS)):
        if letter.lower() != letter and len(letter.lower()) == 1:
            capitals.setdefault(letter.lower(), []).append(letter)
    return capitals
