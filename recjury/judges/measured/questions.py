"""The questions with which a system asks the user."""

from functools import lru_cache

from recjury.judges.measured.said import Said, words_of
from recjury.records import Domain

# Titles count as words, too: "Have you seen Heat?" asks about the user.
_SECOND_PERSON = frozenset({"you", "your", "youre", "yours", "youd", "youve", "youll"})


def question_to_user(said: Said, domain: Domain) -> str | None:
    """The first question that addresses the user or is about an attribute of items; or None."""
    if "?" not in said.text:
        return None
    for part in said.sentences:
        words = {token.key for token in part.words}
        if part.is_question and words & (_SECOND_PERSON | _attribute_words(domain)):
            return said.text[part.start : part.end].strip()
    return None


@lru_cache(64)
def _attribute_words(domain: Domain) -> frozenset[str]:
    """The single words by which people ask for the attributes of a domain."""
    phrases = (p for each in domain.attributes for p in (each.word, each.words, *each.asked))
    return frozenset(words_of(phrase) for phrase in phrases)
