"""Decides when an ordinary word is meant as a title: "It", "Up", "Big", "Her", "Frozen".

Without a mark, such a word is an ordinary word. The marks are: quotation or emphasis, a hashtag, a
year, a capital letter that the sentence does not require, a position that only a title can have
("called ...", "I watched ... again"), and being the answer, alone in its sentence.
"""

import re
from functools import cached_property

from recjury.knowledge.tokenizer import Token, tokenize_parts
from recjury.language import vocabulary
from recjury.simulator.title_variants import TitleVariant

_OPENING = "\"'*_[<~|{#>"
_CLOSING = "\"'*_]>~|}<"
_YEAR_BEHIND = re.compile(
    r"[\"'*_!?.]*\s*[(\[,]?\s*(?:from |of |the )*\s*(1[89]\d\d|20\d\d)\b(?!')"
)
_YEAR_BEFORE = re.compile(r"(1[89]\d\d|20\d\d)(?:'?s)?\s+(?:movie |film )?$")
_BRACKETED_YEAR = re.compile(r"[\"'*_!?.]*\s*[(\[]\s*(1[89]\d\d|20\d\d)\s*[)\]]")
_NAMED_FOR_SURE = re.compile(
    r"(?:\b(?:is|was|one|movie|film|book) called|'s called|\b(?:titled|entitled)"
    r"|\b(?:name|title)(?: of it)? is)\s*(?:the |a |an )?$",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:\b(?:called|titled|entitled|named)|\b(?:name|title)(?: of it)? is)\s*[:\-]?\s*"
    r"(?:the |a |an )?$",
    re.IGNORECASE,
)
_WATCHED = re.compile(
    r"\b(?:(?:re)?watch(?:ed|ing)?|seen|see|saw|similar to"
    r"|(?:movies?|films?|something|anything|stuff|ones?) (?:just |a bit |more )?like)\s+$",
    re.IGNORECASE,
)
_SAID_TO_BE_A_FILM = re.compile(r"\b(?:the|that) (?:movie|film|book) $", re.IGNORECASE)
_PLACE_ENDS = re.compile(
    r"\s*(?:$|[.!?,;:)\]\n]|(?:tonight|again|please|too|yet|because|but|and|or|with|if|when|since"
    r"|instead|maybe|last|this|on|at|movie|film|is|was|would|has)\b)",
    re.IGNORECASE,
)
_STATEMENT_ENDS = re.compile(r"\s*(?:$|[.!?,;)\n])")
_CAPITAL_ARTICLE = re.compile(r"[\w,;]\s+(?:The|A|An)\s+$")
# The context of a day, a month or a holiday that is meant as such.
_BEFORE_PROPER = re.compile(
    r"\b(?:on|last|this|next|every|each|until|till|by|since|for|from|in|of|before|after|at|and|or"
    r"|around|the|an?|my|your|is|was|not)\s+$",
    re.IGNORECASE,
)
_NO_NOUN_BEHIND = re.compile(r"\s*(?:$|[^\w\s]|(?:on|is|was|would|please|again|too|and|or|with)\b)")
# Words that follow a title at the beginning of a sentence, but rarely another noun.
_SAID_OF_TITLES = re.compile(
    r",? (?:sounds|starring|would be (?:great|good|nice|fun|perfect|fine)"
    r"|is (?:exactly|perfect|what i|the (?:movie|film|one|title))|directed by)\b",
    re.IGNORECASE,
)
_ARTICLE_BEHIND = re.compile(r"\s*,\s*(?:The|A|An|the)\b(?!\s+[a-z])")
_ARTICLE = re.compile(r"\b(?:the|an|a)\s+$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?\n]")
_ASKS_WHICH = re.compile(
    r"\bwhich (?:one|movie|film|title)|\bwhat(?:'s| is| was)? (?:it|the (?:movie|film|title|name)|"
    r"its (?:name|title)|movie|film|title)\b|\b(?:name|title) of\b|\bwhat .{0,30}\bcalled\b",
    re.IGNORECASE,
)
_HASHTAG = re.compile(r"#\w*$")
_NEAR = 60


class StrictMarks:
    """The marks in one folded text that show whether a word is meant as a title."""

    def __init__(self, text: str, *, asked: str = ""):
        """`asked` is the folded text of the turn that this text answers."""
        self._text = text
        self._asked_which = _ASKS_WHICH.search(asked) is not None

    def is_title(self, found: list[Token], form: TitleVariant, years: frozenset[str]) -> bool:
        """Whether the words `found`, which spell `form`, are marked as a title."""
        start, end = found[0].start, found[-1].end
        before = self._text[max(0, start - _NEAR) : start]
        lone = len(form.words) == 1
        function = lone and form.words[0] in vocabulary.words("never_titles_alone")
        return (
            self.is_quoted(start, end)
            or self._has_year(before, end, years, function=function)
            or _ARTICLE_BEHIND.match(self._text, end) is not None
            or self._is_answer(start, end, function=function)
            or self._stands_for_title(before, end, form, function=function)
            or self.is_capitalised(found)
        )

    def is_quoted(self, start: int, end: int) -> bool:
        """Whether quotation marks, Markdown or a hashtag set this part of the text apart."""
        before = _ARTICLE.sub("", self._text[max(0, start - 8) : start]).rstrip(" ")
        if self.in_hashtag(start):
            return True
        behind = self._text[end : end + 6].lstrip(" .,!?")
        if not before or not behind or before[-1] not in _OPENING or behind[0] not in _CLOSING:
            return False
        joins = before[-1] == "'" and before[-2:-1].isalnum()
        contracts = behind[0] == "'" and behind[1:2].isalpha()
        return not joins and not contracts

    def _has_year(self, before: str, end: int, years: frozenset[str], *, function: bool) -> bool:
        if _BRACKETED_YEAR.match(self._text, end):
            return True
        behind = _YEAR_BEHIND.match(self._text, end)
        if behind and (behind[1] in years or not function):
            return True
        ahead = _YEAR_BEFORE.search(before)
        return ahead is not None and ahead[1] in years and not function

    def _stands_for_title(
        self, before: str, end: int, form: TitleVariant, *, function: bool
    ) -> bool:
        if function:
            over = _STATEMENT_ENDS.match(self._text, end) is not None
            return over and _NAMED_FOR_SURE.search(before) is not None
        ends = _PLACE_ENDS.match(self._text, end) is not None
        if _NAMED.search(before):
            return ends
        if (
            _SAID_OF_TITLES.match(self._text, end)
            and self._text[end - len(form.words[-1])].isupper()
        ):
            return True
        if _SAID_TO_BE_A_FILM.search(before):
            return ends
        if len(form.words) == 1 and (
            len(form.key) == 1 or form.words[0] in vocabulary.words("kinds_of_films")
        ):
            return False
        return ends and _WATCHED.search(before) is not None

    def _is_answer(self, start: int, end: int, *, function: bool) -> bool:
        """Whether its sentence consists of the title alone, or of it and words like "it's"."""
        first = max(self._text.rfind(sign, max(0, start - _NEAR), start) for sign in ".!?\n") + 1
        if first == 0 and start > _NEAR:
            return False
        stop = _SENTENCE_END.search(self._text, end, end + _NEAR)
        if stop is None and len(self._text) > end + _NEAR:
            return False
        last = stop.start() if stop else len(self._text)
        around = self._text[first:start] + " " + self._text[end:last]
        rest = [word.key for word in tokenize_parts(around)]
        alone = all(word in {"the", "a", "an"} for word in rest)
        if alone:
            whole = not self._text[:first].strip() and not self._text[last:].strip(" .!?\n")
            return whole or (not function and self._text[start].isupper())
        return (
            self._asked_which
            and not function
            and all(word in vocabulary.words("around_answers") for word in rest)
        )

    def in_hashtag(self, start: int) -> bool:
        """Whether the character at `start` belongs to a hashtag."""
        return _HASHTAG.search(self._text[max(0, start - _NEAR) : start]) is not None

    def abbreviates(self, found: list[Token]) -> bool:
        """Whether the letters `found` are two with a full stop between ("U.S.")."""
        return len(found) == 2 and "." in self._text[found[0].end : found[1].start]

    def has_space(self, found: list[Token]) -> bool:
        """Whether there is white space between the words, not only a hyphen or slash."""
        return any(sign.isspace() for sign in self._text[found[0].start : found[-1].end])

    def is_capitalised(self, found: list[Token]) -> bool:
        """Whether the words are capitalised although the sentence does not require it."""
        told = False
        for number, word in enumerate(found):
            small = word.key in vocabulary.words("never_titles_alone")
            capital = self._text[word.start].isupper()
            if number and (small or self._is_ending(word)) and not capital:
                continue
            if len(found) > 1 and word.key.isdigit():
                continue
            if not capital:
                return False
            told |= self._capital_tells(word, small=small)
        return told and not self._shouts

    def _is_ending(self, word: Token) -> bool:
        """Whether the word follows an apostrophe, such as the "s" of "She's"."""
        return self._text[word.start - 1] == "'" and len(word.key) <= 2

    def _capital_tells(self, word: Token, *, small: bool) -> bool:
        if len(word.key) == 1 or (small and self._text[word.start : word.end].isupper()):
            return False
        before = self._text[max(0, word.start - _NEAR) : word.start]
        if _CAPITAL_ARTICLE.search(before):
            return True
        if word.key in vocabulary.words("capitalised_words") and (
            _BEFORE_PROPER.search(before) or not _NO_NOUN_BEHIND.match(self._text, word.end)
        ):
            return False
        return not self._starts_sentence(word.start, small=small)

    def _starts_sentence(self, start: int, *, small: bool) -> bool:
        before = self._text[max(0, start - 8) : start].rstrip(" \"'([*_#-" if small else " ([")
        return not before or before[-1] in (".!?\n:;)" if small else ".!?\n")

    @cached_property
    def _shouts(self) -> bool:
        """Whether capitals are not informative because most of the text is in capitals."""
        letters = [sign for sign in self._text[:4000] if sign.isalpha()]
        return sum(sign.isupper() for sign in letters) > 0.6 * len(letters)
