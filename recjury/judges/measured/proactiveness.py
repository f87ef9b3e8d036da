"""Proactiveness: the share of system turns that advance the conversation."""

from functools import lru_cache

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.linked_text import LinkedText, words_of
from recjury.judges.measured.outcome import Finding, Outcome, by_worth
from recjury.records import Domain

# Titles count as words, too: "Have you seen Heat?" asks about the user.
_SECOND_PERSON = frozenset({"you", "your", "youre", "yours", "youd", "youve", "youll"})


def proactiveness(log: AnnotatedLog) -> Outcome:
    """All turns proactive 4, most 3, about half 2, a few 1, none 0.

    A turn that asks the user counts in full; asked again in the same words, it counts half, as does
    a turn with several new items; one with a single new item counts a quarter.
    """
    rated: list[Finding] = []
    asked: set[str] = set()
    for turn in log.system:
        question = question_to_user(turn.said, log.domain) if turn.spoke else None
        if question is not None:
            again = words_of(question) in asked
            asked.add(words_of(question))
            note = f"asks {question!r}{' again, which counts half' if again else ''}"
            rated.append(turn.finding("asks", note, question, 0.5 if again else 1.0))
        elif len(turn.new) > 1:
            note = f"offers {len(turn.new)} {log.domain.items}, which counts half"
            rated.append(turn.finding("suggests", note, turn.new[0].text, 0.5))
        elif turn.new:
            note = f"suggests {turn.new[0].text!r}, which counts a quarter"
            rated.append(turn.finding("suggests", note, turn.new[0].text, 0.25))
        else:
            rated.append(turn.lacks("no question and nothing new"))
    return by_worth(rated, "turn", "advance the conversation")


def question_to_user(said: LinkedText, domain: Domain) -> str | None:
    """The first question that addresses the user or is about an attribute of items; or None."""
    if "?" not in said.text:
        return None
    asking = _SECOND_PERSON | _attribute_words(domain)
    questions = (part for part in said.sentences if "?" in part.text)
    return next((each.text for each in questions if not asking.isdisjoint(each.words)), None)


@lru_cache(64)
def _attribute_words(domain: Domain) -> frozenset[str]:
    """The single words by which people ask for the attributes of a domain."""
    phrases = (p for each in domain.attributes for p in (each.word, each.words, *each.asked))
    return frozenset(words_of(phrase) for phrase in phrases)
