"""Decomposes system turns into particles without a model, by sentences and list items.

Titles are recognised only before a year ("Heat (1995)", found by `knowledge.dated_titles`) and in
lists. Feedback is recognised only if the user repeats words of a particle or answers immediately.
The decomposer is named "rule" in all results.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from recjury.judges.face.face_prompts import answer_to
from recjury.knowledge.unlisted import TitleSpan, dated_titles
from recjury.records import (
    JSON,
    ConversationLog,
    Decomposition,
    DialogueAct,
    Particle,
    TurnParticles,
)

RULE = "rule"
VERSION = 2

_SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\S)[^.!?\n]*)*[.!?]*")
_NUMBERED = re.compile(r"^\s*(?:\d+\s*[:.)]|[-*•])\s*(?P<item>.+?)\s*$")
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon)|welcome)\b", re.IGNORECASE
)
_GOODBYE = re.compile(
    r"\b(?:bye|goodbye|farewell|see you|have a (?:great|good|nice)|take care)\b", re.IGNORECASE
)
_OFFER = re.compile(
    r"\b(?:recommend|suggest|have you (?:seen|watched)|how about|what about|you should|try)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(?<!\w)[\"“*'‘](?=\w)")
_WORD = re.compile(r"\w+")
_EMPTY = frozenset(
    _WORD.findall(
        "a an and are as at be but by can do for from have i in is it me my no not of on or so "
        "some that the this to was what with would yes you your"
    )
)


class RuleDecomposer:
    """A `Decomposer` without a model."""

    @property
    def name(self) -> str:
        """ "rule"."""
        return RULE

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The version of the rules."""
        return {"decomposer": RULE, "version": VERSION}

    async def decompose(self, log: ConversationLog) -> Decomposition:
        """Decompose all system turns; a turn without words has no particles."""
        turns = (
            TurnParticles(
                turn=turn,
                particles=particles_of(log.interaction[turn].text, answer_to(log, turn)),
            )
            for turn in log.system_turn_indices
        )
        return Decomposition(decomposer=RULE, turns=tuple(turns))


def particles_of(text: str, answer: str | None) -> tuple[Particle, ...]:
    """The particles of a turn, each with its feedback in `answer`, the user's next turn."""
    pieces = [piece for line in text.splitlines() for piece in _pieces(line)]
    mentions, acts = [mention for mention, _ in pieces], [act for _, act in pieces]
    heard = _feedback(mentions, acts, answer or "")
    return tuple(
        Particle(act=act, mention=mention, feedback=feedback)
        for mention, act, feedback in zip(mentions, acts, heard, strict=True)
    )


def _pieces(line: str) -> Iterator[tuple[str, DialogueAct]]:
    """A list item as a whole, or else sentences, split if they contain several titles."""
    numbered = _NUMBERED.match(line)
    if numbered is not None:
        yield numbered["item"], DialogueAct.RECOMMENDATION
        return
    for sentence in _SENTENCE.findall(line):
        starts = [title.start for title in _titles(sentence)][1:]
        for start, end in pairwise([0, *starts, len(sentence)]):
            mention = sentence[start:end].strip(" ,;")
            if _WORD.search(mention):
                yield mention, _act(mention)


def _titles(text: str) -> Iterator[TitleSpan]:
    """The dated titles; a quoted title begins after its opening quotation mark."""
    return dated_titles(_OPENING.sub(" ", text))


def _act(mention: str) -> DialogueAct:
    if any(_titles(mention)) or _OFFER.search(mention):
        return DialogueAct.RECOMMENDATION
    if _GOODBYE.search(mention):
        return DialogueAct.GOODBYE
    if mention.rstrip().endswith("?"):
        return DialogueAct.PREFERENCE_ELICITATION
    return DialogueAct.GREETING if _GREETING.search(mention) else DialogueAct.OTHERS


def _feedback(
    mentions: Sequence[str], acts: Sequence[DialogueAct], answer: str
) -> list[str | None]:
    """Assign each sentence of the answer to the particle with which it shares most words.

    If the first sentence shares no words, it is assigned to the last question or recommendation.
    """
    heard: list[list[str]] = [[] for _ in mentions]
    bags = [_words(mention) for mention in mentions]
    calls = {DialogueAct.RECOMMENDATION, DialogueAct.PREFERENCE_ELICITATION}
    last = max((n for n, act in enumerate(acts) if act in calls), default=None)
    for number, sentence in enumerate(_SENTENCE.findall(answer)):
        said = sentence.strip()
        if not _WORD.search(said):
            continue
        shared = [len(_words(said) & bag) for bag in bags]
        best = max(shared, default=0)
        if best > 0:
            heard[shared.index(best)].append(said)
        elif number == 0 and last is not None:
            heard[last].append(said)
    return [" ".join(some) or None for some in heard]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text)) - _EMPTY
