"""How far the numbers can be trusted: what to say depends on who rated and what came of it."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.report.findings import Findings
from recjury.report.participants import Participants

_FEW = 30  # conversations of a system below which an interval is wide


class Caveat(NamedTuple):
    """One thing to know before using a number."""

    heading: str
    text: str


def caveats(found: Findings, who: Participants, *, wished: bool) -> tuple[Caveat, ...]:
    """What a reader should know; `wished` tells that targets were found by their attributes."""
    return (
        *_about_raters(who),
        *_about_users(who),
        *_about_targets(found, wished=wished),
        *_about_gaps(found),
    )


def _about_raters(who: Participants) -> list[Caveat]:
    said: list[Caveat] = []
    if who.measured:
        said.append(
            Caveat(
                f"{_all(who.measured)}measured, not judged by a language model",
                "Each measured judge counts what its rubric counts, as far as that can be computed "
                "from text, lists and a catalogue. Its scores compare systems with each other; "
                "they are no substitute for a model's or a person's judgement, and must not be "
                "set beside published scores of model judges.",
            )
        )
    if who.by_model:
        said.append(
            Caveat(
                f"{_all(who.by_model)}rated by a language model",
                "Model judges can favour long, fluent or familiar text and can be wrong about "
                "items. Nothing on this page says how well they agree with people: compare "
                "them with human labels before relying on small differences.",
            )
        )
    if who.debater_is_rule:
        said.append(
            Caveat(
                "The overall score comes from rule debaters",
                "Each role weighs the scores it answers for by a fixed rule and moves towards the "
                "others. The overall score therefore has no information beyond those scores.",
            )
        )
    if who.debater_is_model:
        said.append(
            Caveat(
                "The overall score comes from a debate between language models",
                "Roles that share a model tend to agree with each other; agreement does not show "
                "that they are right.",
            )
        )
    return said


def _about_users(who: Participants) -> list[Caveat]:
    said: list[Caveat] = []
    if who.user_is_rule:
        said.append(
            Caveat(
                "The user followed fixed rules",
                "The rule user answers from the target's attributes. It is the same for all "
                "systems, and more patient and more literal than people are.",
            )
        )
    if who.user_is_model:
        said.append(
            Caveat(
                "The user was played by a language model",
                "Simulated users accept more and complain less than people do; persuasiveness is "
                "that user's own answer.",
            )
        )
    if who.is_recorded:
        said.append(
            Caveat(
                "Conversations were recorded elsewhere",
                "Nobody reacted to the systems here, so persuasiveness is not scored, and what "
                "the recordings lack is left unscored.",
            )
        )
    return said


def _about_targets(found: Findings, *, wished: bool) -> list[Caveat]:
    said: list[Caveat] = []
    played = sum(len(scenarios.played) for scenarios in found.scenarios.values())
    seen = sum(len(scenarios.target_seen) for scenarios in found.scenarios.values())
    if seen:
        said.append(
            Caveat(
                f"In {seen} of {played} scenarios a target was already named in the history",
                "A system that repeats what it has read hits these, which lifts Recall@k.",
            )
        )
    if wished:
        said.append(
            Caveat(
                "Some targets are all items with the recorded attributes",
                "Where a recording has no single target, every item that fits what was wished for "
                "counts as one: its Recall@k is not comparable with that for single targets.",
            )
        )
    return said


def _about_gaps(found: Findings) -> list[Caveat]:
    said: list[Caveat] = []
    failed = sum(tally.failed for tally in found.systems.values())
    if failed:
        said.append(
            Caveat(
                f"{failed} {'conversation' if failed == 1 else 'conversations'} failed",
                "They lower the coverage of the means. If a system fails on the hard scenarios, "
                "its means are those of the easy ones.",
            )
        )
    few = [name for name, tally in found.systems.items() if tally.conversations < _FEW]
    if few:
        said.append(
            Caveat(
                f"Few conversations: under {_FEW} for {len(few)} of {len(found.systems)} systems",
                "The intervals are wide, and a difference that is not significant may still be "
                "there.",
            )
        )
    return said


def _all(evaluators: Sequence[str]) -> str:
    return f"{', '.join(evaluators)}: {'' if len(evaluators) == 1 else 'all '}"
