"""Errors of agreement between subject and verb, and between determiner and noun."""

from collections.abc import Iterator

from recjury.judges.measured.text import Sentence, word_set
from recjury.judges.measured.verbs import BE, THIRD

Error = tuple[int, str]

_LIKES = (THIRD - BE) | {"doesn't", "hasn't"}
_WRONG_AFTER: dict[str, frozenset[str]] = {
    "i": _LIKES | {"is", "are", "isn't", "aren't"},
    "we": _LIKES | {"is", "am", "was", "isn't", "wasn't"},
    "they": _LIKES | {"is", "am", "was", "isn't", "wasn't"},
    "you": _LIKES | {"is", "am", "was", "isn't", "wasn't"},
    "he": frozenset({"are", "am", "have", "do", "don't", "aren't", "haven't"}),
    "she": frozenset({"are", "am", "have", "do", "don't", "aren't", "haven't"}),
    "it": frozenset({"are", "am", "have", "do", "don't", "aren't", "haven't"}),
}
# "you" and "it" may be objects of the preceding verb, so they are checked only at a clause start.
_OBJECTS_TOO = frozenset({"you", "it"})
_CLAUSE_OPENERS = frozenset(
    {"because", "since", "although", "though", "if", "when", "but", "think", "believe", "know"}
)
# After these words, a pronoun precedes a bare verb or shares its verb with another subject.
_BARE_VERB_AFTER = word_set(
    "and or nor do does did don't doesn't didn't can could will would shall should may might must "
    "won't wouldn't couldn't can't let lets make makes made see saw watch help have has had "
    "suggest insist demand ask recommend require that of than as"
)
_SINGULAR = frozenset({"movie", "film", "book", "story", "actor", "actress", "director", "plot"})
_PLURAL = frozenset({"movies", "films", "books", "stories", "actors", "directors", "genres"})
_DETERMINERS = frozenset({"the", "this", "that", "these", "those"})
_PLURAL_VERBS = frozenset({"are", "were", "have", "aren't", "weren't", "haven't"})
_SINGULAR_VERBS = frozenset({"is", "was", "has", "isn't", "wasn't", "hasn't"})
_ADJECTIVES = word_set(
    "best worst greatest good great funniest scariest favorite favourite most popular top new old "
    "classic"
)
_NOUN_ENDS_HERE = frozenset({"", "that", "i", "is", "was", "of", "in", "ever", "i've"})


def agreement_errors(sentence: Sentence) -> Iterator[Error]:
    """The errors of this kind in a sentence, each with the index of its first word."""
    for index, word in enumerate(sentence.words):
        if word in _WRONG_AFTER:
            yield from _pronoun(sentence, index)
        elif word in _DETERMINERS:
            if sentence.breaks[index]:
                yield from _noun_and_verb(sentence, index)
            yield from _pointing(sentence, index)
        elif word == "one":
            yield from _one_of(sentence, index)
        elif word == "there":
            yield from _there(sentence, index)


def _pronoun(sentence: Sentence, index: int) -> Iterator[Error]:
    pronoun, verb = sentence.words[index], sentence.after(index)
    if verb not in _WRONG_AFTER[pronoun]:
        return
    before = sentence.before(index)
    if pronoun in _OBJECTS_TOO and before and before not in _CLAUSE_OPENERS:
        return
    if before in _BARE_VERB_AFTER or _shares_its_verb(sentence, index):
        return
    yield index, repr(sentence.phrase(index, index + 2))


def _shares_its_verb(sentence: Sentence, index: int) -> bool:
    """Whether the pronoun ends a list of subjects: "You, he and I are"."""
    return index > 0 and sentence.words[index - 1] in {"and", "or", "nor"}


def _noun_and_verb(sentence: Sentence, index: int) -> Iterator[Error]:
    noun = sentence.after(index)
    verb = sentence.after(index + 1)
    if (noun in _SINGULAR and verb in _PLURAL_VERBS) or (
        noun in _PLURAL and verb in _SINGULAR_VERBS
    ):
        yield index, repr(sentence.phrase(index, index + 3))


def _pointing(sentence: Sentence, index: int) -> Iterator[Error]:
    pointer, noun = sentence.words[index], sentence.after(index)
    if pointer == "this" and noun in _PLURAL:
        yield index, repr(sentence.phrase(index, index + 2))
    elif pointer in {"these", "those"} and noun in _SINGULAR:
        following = sentence.after(index + 1)
        if following in _NOUN_ENDS_HERE or following in _SINGULAR_VERBS | _PLURAL_VERBS:
            yield index, repr(sentence.phrase(index, index + 2))
    elif pointer == "these" and noun in {"is", "was", "has"}:
        yield index, repr(sentence.phrase(index, index + 2))


def _one_of(sentence: Sentence, index: int) -> Iterator[Error]:
    run = sentence.run(index, 7)
    if len(run) < 4 or run[1] != "of" or run[2] not in {"the", "these", "those", "my"}:
        return
    end = 3
    while end < len(run) and run[end] in _ADJECTIVES:
        end += 1
    singular = end < len(run) and run[end] in _SINGULAR
    if singular and sentence.after(index + end) in _NOUN_ENDS_HERE:
        yield index, repr(sentence.phrase(index, index + end + 1))


def _there(sentence: Sentence, index: int) -> Iterator[Error]:
    run = sentence.run(index, 4)
    if len(run) < 3:
        return
    plural = run[2] in {"many", "several"} and run[3:] != ("a",)
    single = run[2] in {"a", "an"} and len(run) == 4 and run[3] in _SINGULAR
    if (run[1] in {"is", "was"} and plural) or (run[1] in {"are", "were"} and single):
        yield index, repr(sentence.phrase(index, index + len(run)))
