"""Ten ways to leak a title."""

import re
from collections.abc import Callable

_CYRILLIC = str.maketrans("aeopcxyAEOPCTMKH", "аеорсхуАЕОРСТМКН")
_LEET = str.maketrans("oieasOIEAS", "0134501345")
_ROMAN = {"2": "II", "3": "III", "4": "IV", "5": "V", "6": "VI", "II": "2", "III": "3", "IV": "4"}


def bare(name: str) -> str:
    """A catalogue name without its year."""
    return re.sub(r"\s*\(\d{4}\)$", "", name) or name


def said(name: str) -> str:
    """The title; numbers and single letters are said to be a film, or nobody would know."""
    title = bare(name)
    words = re.findall(r"\w+", title)
    known = any(len(word) > 1 and not word.isdigit() for word in words)
    return title if known else f"the film {title}"


def in_a_sentence(name: str) -> str:
    return f"Have you got {said(name)} on your shelf?"


def quoted_with_year(name: str) -> str:
    return f'I once saw "{name}" and want that.'


def called_in_lower_case(name: str) -> str:
    return f"the one is called {bare(name).lower()}"


def misspelt(name: str) -> str:
    """One letter doubled in the longest word, where the word is long enough to be known by."""
    title = bare(name)
    longest = max(title.split(), key=len)
    if len(longest) < 6 or not longest.isalpha():
        return f"What about {said(name)}, perhaps?"
    wrong = longest[:3] + longest[2] + longest[3:]
    return f"What about {title.replace(longest, wrong)}, perhaps?"


def spelled_out(name: str) -> str:
    letters = [sign for sign in bare(name) if sign.isalnum()]
    return f"I can spell it for you: {' '.join(letters)}." if len(letters) > 1 else f'"{name}".'


def split_by_punctuation(name: str) -> str:
    words = (word[:2] + "-" + word[2:] if len(word) > 3 else word for word in bare(name).split())
    return f"I mean **{'/'.join(words)}**, please."


def hashtag(name: str) -> str:
    words = re.findall(r"\w+", bare(name))
    return f"My feed is full of #{''.join(word[0].upper() + word[1:] for word in words)} now."


def foreign_letters(name: str) -> str:
    disguised = "\u200b".join(said(name).translate(_CYRILLIC))
    return f"Then again, {disguised} would do."


def digits_for_letters(name: str) -> str:
    return f"Well, *{bare(name).translate(_LEET)}* would do."


def turned_round(name: str) -> str:
    """Article behind, numerals exchanged, "&" for "and", without what follows the colon."""
    title = bare(name).split(":")[0] if len(bare(name).split(":")[0]) > 6 else bare(name)
    title = re.sub(r"\w+", lambda found: _ROMAN.get(found.group(), found.group()), title)
    title = title.replace("&", "and") if "&" in title else title.replace(" and ", " & ")
    article = re.match(r"(The|A|An) (.*)", title)
    turned = f"{article[2]}, {article[1]}" if article else title
    return f'In the index it stands as "{turned}", I think.'


WAYS: tuple[Callable[[str], str], ...] = (
    in_a_sentence,
    quoted_with_year,
    called_in_lower_case,
    misspelt,
    spelled_out,
    split_by_punctuation,
    hashtag,
    foreign_letters,
    digits_for_letters,
    turned_round,
)
