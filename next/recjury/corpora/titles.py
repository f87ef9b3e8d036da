"""`Title`: what names an item in a text. Linking and leak guard use this one matcher."""

import functools
import re
import unicodedata
from importlib import resources

_ARTICLE = re.compile(r"^(the|a|an) ")
_YEAR = re.compile(r"\s*\((?P<year>1[89]\d\d|20\d\d)\)\s*$")


def fold(text: str) -> str:
    """Letters and digits in lower case, without accents and marks, one space between words."""
    plain = unicodedata.normalize("NFKD", text).replace("'", "").replace("’", "")
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(re.findall(r"[^\W_]+", plain.casefold()))


class Title:
    """The names of one item: with and without article, year apart."""

    def __init__(self, name: str):
        """`name` may end with a year in brackets."""
        year = _YEAR.search(name)
        self.name = _YEAR.sub("", name)
        self.year = year["year"] if year else ""
        bare = fold(self.name)
        self.aliases = frozenset({bare, _ARTICLE.sub("", bare)} if " " in bare else {bare})
        self.ordinary = len(bare.split()) < 2 and bare in _ordinary_words()

    def in_text(self, text: str) -> int | None:
        """Where the folded text names the item, or None."""
        if self.ordinary and not self._marked(text):
            return None
        padded = f" {fold(text)} "
        places = [place for alias in self.aliases if (place := padded.find(f" {alias} ")) >= 0]
        return min(places, default=None)

    def _marked(self, text: str) -> bool:
        """Whether an ordinary word is written as a title: in quotation marks, or with the year."""
        name = re.escape(self.name)
        return re.search(rf"[\"'“*_]{name}[\"'”*_]|\b{name}\s\({self.year}\)", text) is not None


@functools.cache
def _ordinary_words() -> frozenset[str]:
    lines = resources.files(__package__).joinpath("ordinary.txt").read_text("utf-8").splitlines()
    return frozenset(line.split()[0] for line in lines if line and line[0] != "#")
