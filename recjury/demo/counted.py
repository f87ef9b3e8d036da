"""`counted`: CoRE's factors without a model, as far as they can be counted, and their debate.

Anchors are those of the factors (section 4.1 and appendix A). A count is a stand-in: it sees words
and lists, not what they mean. Two factors cannot be counted and have no score.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from recjury.corpora import fold
from recjury.demo.talk import Talk
from recjury.judges import Criterion, Evaluator, criteria_of
from recjury.judges.evaluator import computed, not_applicable, rating_of
from recjury.llm import Ask
from recjury.llm.prompts import pack
from recjury.records import (
    ConversationLog,
    Debate,
    Finding,
    Metric,
    Rating,
    Statement,
)

_SOME = 3  # errors in a note
_VERY_SIMILAR = 3  # attribute values that two items share
_ERROR = re.compile(
    r"\b(?P<word>[a-z]{2,}) (?P=word)\b|\ba (?=[aei][a-z]|o[^n])|\s[,.;!?](?=\s|$)"
    r"|<\w+>|[{}]|\bnull\b"
)


class Count(NamedTuple):
    """A score from 0 to 4 and what was counted, or no score and the reason."""

    score: float | None
    note: str


_NO_FACTS = Count(None, "the catalogue does not have the items")


def coherence(talk: Talk) -> Count:
    """One off for each answer that repeats one, or recommends nothing of what the user named."""
    texts = [fold(answer.text) for answer in talk.answers]
    missed = sum(
        text in texts[:number]
        or bool(items and answer.wanted and not talk.values(items) & answer.wanted)
        for number, (text, answer) in enumerate(zip(texts, talk.answers, strict=True))
        for items in [(*answer.listed, *answer.named)]
    )
    return _errors(missed, f"of {len(texts)} answers repeat one or miss what the user named")


def recoverability(talk: Talk) -> Count:
    """One off for each objection after which the system brings no new item and asks nothing."""
    after = [answer for answer in talk.answers if answer.objected]
    missed = sum(not answer.new and not answer.asks for answer in after)
    return _errors(missed, f"of {len(after)} objections are not put right")


def proactiveness(talk: Talk) -> Count:
    """The share of answers that ask something."""
    return _share([answer.asks for answer in talk.answers], "answers ask something")


def grammatical_correctness(talk: Talk) -> Count:
    """One off for each doubled word, "a" before a vowel, stray sign, or mark of a template."""
    found = [match[0].strip() for a in talk.answers for match in _ERROR.finditer(a.text)]
    return _errors(len(found), f"errors {', '.join(map(repr, found[:_SOME]))}".rstrip())


def naturalness(talk: Talk) -> Count:
    """The share of answers that are no earlier one with other names in it."""
    templates = [answer.template for answer in talk.answers]
    fresh = [template not in templates[:n] for n, template in enumerate(templates)]
    return _share(fresh, "answers are worded anew")


def effectiveness(talk: Talk) -> Count:
    """4 for a target in the list; else by how many attribute values items share with one."""
    if not talk.targets or not talk.items:
        return _NO_FACTS  # scoring hits alone would rate only what went well
    ids = {target.id for target in talk.targets}
    if any(item.id in ids for item in talk.items):
        return Count(4, "a target is in the list")
    shared = [max(len(item.values & each.values) for each in talk.targets) for item in talk.items]
    very, some = (sum(n >= least for n in shared) for least in (_VERY_SIMILAR, 1))
    most = len(shared) / 2
    score = 3 if very > most else 2 if some > most or very else 1 if some else 0
    return Count(score, f"{some} of {len(shared)} items share a value with a target, {very} many")


def novelty(talk: Talk) -> Count:
    """How many items are among the least popular quarter of the catalogue."""
    ranked = sorted(item.popularity for item in talk.catalogue)
    if not talk.items or ranked[0] == ranked[-1]:
        return Count(None, "the catalogue does not say what is popular")
    little = sum(item.popularity <= ranked[len(ranked) // 4] for item in talk.items)
    share = little / len(talk.items)
    steps = ((4, 0.5, 11), (3, 0.25, 6), (2, 2, 3), (1, 2, 1))
    score = next((s for s, part, n in steps if share >= part or little >= n), 0)
    return Count(score, f"{little} of {len(talk.items)} items are little known")


def diversity(talk: Talk) -> Count:
    """How many leading values and decades the items have in the two most varied attributes."""
    if not talk.items:
        return _NO_FACTS
    columns: dict[str, set[str]] = {}
    for item in talk.items:
        leading = {name: values[0] for name, values in item.attributes.items() if values}
        decade = {"decade": f"{item.year // 10}0s"} if item.year else {}
        for name, value in (leading | decade).items():
            columns.setdefault(name, set()).add(value)
    first, second = sorted((*map(len, columns.values()), 0, 0), reverse=True)[:2]
    steps = ((4, 9, 5), (3, 5, 4), (2, 4, 3), (1, 2, 0))
    score = next((s for s, one, both in steps if first >= one or (both and second >= both)), 0)
    return Count(score, f"up to {first} and {second} different values")


def semantic_relevance(talk: Talk) -> Count:
    """The share of the items which the texts recommend that are in the list."""
    named = {item.id for answer in talk.answers for item in answer.named}
    if talk.log.linked:
        return Count(None, "the list was made from the texts")
    if not named:
        return Count(None, "the texts name no item of the catalogue")
    inside = len(named & {item.id for item in talk.log.session_list})
    return Count(4 * inside / len(named), f"{inside} of {len(named)} items named are in the list")


def explainability(talk: Talk) -> Count:
    """The share of recommending answers that say something the catalogue knows of their items."""
    if not talk.items:
        return _NO_FACTS
    reasons = [
        any(f" {value} " in f" {answer.template} " for value in talk.values(items))
        for answer in talk.answers
        if (items := (*answer.listed, *answer.named))
    ]
    return _share(reasons, "recommending answers give a reason")


def _errors(number: int, what: str) -> Count:
    return Count(max(0, 4 - number), f"{number} {what}")


def _share(holds: Sequence[bool], what: str) -> Count:
    """4 if it always holds, 0 if it never does, and 3, 2 or 1 between."""
    found = sum(holds)
    between = min(3, max(1, round(4 * found / max(1, len(holds)))))
    score = 0 if not found else 4 if found == len(holds) else between
    return Count(score, f"{found} of {len(holds)} {what}")


COUNTS: Mapping[str, Callable[[Talk], Count]] = {
    count.__name__: count
    for count in (
        coherence,
        recoverability,
        proactiveness,
        grammatical_correctness,
        naturalness,
        effectiveness,
        novelty,
        diversity,
        semantic_relevance,
        explainability,
    )
}
"""The factors that are counted, by metric."""

ENGLISH = frozenset({"recoverability", "grammatical_correctness", "explainability"})
"""Counts that rest on English words."""


class Counted(Evaluator):
    """Counts what can be counted of the twelve factors, from 0 to 4, and settles on a verdict.

    The verdict is that of roles that begin with the means of their counts and move halfway to the
    mean of all in each round. It is a stand-in, and no judgement of what was said.
    """

    RENDERING: ClassVar[int] = 3

    kind: Literal["counted"] = "counted"
    max_rounds: int = Field(default=4, ge=1, le=8)

    @property
    def metrics(self) -> Sequence[Metric]:
        """The twelve factors, and `overall`."""
        factors = [criterion.metric for criterion in _factors()]
        return [*factors, Metric(name="overall", title="Overall", high=100)]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:  # noqa: ARG002
        """All counts and the debate over them; nothing is asked."""
        talk = Talk(log, self.catalogue(log.scenario))
        ratings = [_rating(criterion, talk) for criterion in _factors()]
        return [*ratings, await self.debated(ratings)]

    async def debated(
        self, ratings: Sequence[Rating], opening: Sequence[Statement] = (), *, max_rounds: int = 0
    ) -> Debate:
        """The debate over counts, after `opening`; `max_rounds` in place of the evaluator's."""
        from recjury.demo.debate import counted_debate

        return await counted_debate(ratings, opening, max_rounds=max_rounds or self.max_rounds)


def _factors() -> tuple[Criterion, ...]:
    return criteria_of(pack("judges/core"))


def _rating(criterion: Criterion, talk: Talk) -> Rating:
    metric = criterion.metric.name
    score, note = _count(criterion, metric, talk)
    answer = not_applicable(note) if score is None else computed(score, note)
    return rating_of(metric, "counted", answer)


def _count(criterion: Criterion, metric: str, talk: Talk) -> Count:
    """The count, or why there is none."""
    if metric not in COUNTS:
        return Count(None, "it cannot be counted: a model judges it")
    if missing := criterion.lacks(talk.log):
        return Count(None, missing)
    if metric in ENGLISH and not talk.is_english:
        return Count(
            None,
            "it is counted by English words, and the system does not show that it speaks English",
        )
    return COUNTS[metric](talk)
