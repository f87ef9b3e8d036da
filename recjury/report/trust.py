"""How far the numbers can be trusted: what to say depends on who rated and what came of it."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.report.findings import Findings
from recjury.report.players import Players
from recjury.report.summary import SystemSummary

_FEW = 30  # trials of a system below which an interval is wide


class Caution(NamedTuple):
    """One thing to know before using a number."""

    heading: str
    text: str


def cautions(
    found: Findings, who: Players, systems: Mapping[str, SystemSummary], *, wished: bool
) -> tuple[Caution, ...]:
    """What a reader should know; `wished` tells that targets were found by their attributes."""
    return (
        *_about_raters(who),
        *_about_users(who),
        *_about_targets(found, wished=wished),
        *_about_gaps(systems),
    )


def _about_raters(who: Players) -> list[Caution]:
    said: list[Caution] = []
    if who.judge_is_rule:
        said.append(
            Caution(
                "The factors were measured, not judged by a language model",
                "Each measured judge counts what its rubric counts, as far as that can be computed "
                "from text, lists and a catalogue. Its scores compare systems with each other; "
                "they are no substitute for a model's or a person's judgement, and must not be "
                "set beside published scores of model judges.",
            )
        )
    if who.judge_is_model:
        said.append(
            Caution(
                "The factors were rated by a language model",
                "Model judges can favour long, fluent or familiar text and can be wrong about "
                "items. Nothing on this page says how well they agree with people: hold them "
                "against human labels before relying on small differences.",
            )
        )
    if who.debater_is_rule:
        said.append(
            Caution(
                "The overall score comes from rule debaters",
                "Each role weighs its three factor scores by a fixed rule and moves towards the "
                "others. The overall score therefore holds nothing that the factor scores do not.",
            )
        )
    if who.debater_is_model:
        said.append(
            Caution(
                "The overall score comes from a debate between language models",
                "Roles that share a model tend to agree with each other; agreement is no evidence "
                "of being right.",
            )
        )
    return said


def _about_users(who: Players) -> list[Caution]:
    said: list[Caution] = []
    if who.user_is_rule:
        said.append(
            Caution(
                "The user followed an agenda, not a mind",
                "The rule user answers from the target's attributes. It is the same for all "
                "systems, and more patient and more literal than people are.",
            )
        )
    if who.user_is_model:
        said.append(
            Caution(
                "The user was played by a language model",
                "Simulated users accept more and complain less than people do; persuasiveness is "
                "that user's own answer.",
            )
        )
    if who.is_recorded:
        said.append(
            Caution(
                "Conversations were recorded elsewhere",
                "Nobody reacted to the systems here, so persuasiveness is not scored, and what "
                "the recordings lack is left unscored.",
            )
        )
    return said


def _about_targets(found: Findings, *, wished: bool) -> list[Caution]:
    said: list[Caution] = []
    played = sum(len(scenarios.played) for scenarios in found.scenarios.values())
    seen = sum(len(scenarios.target_seen) for scenarios in found.scenarios.values())
    if seen:
        said.append(
            Caution(
                f"In {seen} of {played} scenarios a target was already named in the history",
                "A system that repeats what it has read hits these, which lifts Recall@k.",
            )
        )
    if wished:
        said.append(
            Caution(
                "Some targets are all items with the recorded attributes",
                "Where a recording has no single target, every item that fits what was wished for "
                "counts as one: its Recall@k is not comparable with that for single targets.",
            )
        )
    return said


def _about_gaps(systems: Mapping[str, SystemSummary]) -> list[Caution]:
    said: list[Caution] = []
    through = sum(summary.leaks_through for summary in systems.values())
    if through:
        said.append(
            Caution(
                f"{through} messages of the user named a target before the system did",
                "The leak guard did not catch them; the systems' hits after them are not earned.",
            )
        )
    failed = sum(summary.failed for summary in systems.values())
    if failed:
        said.append(
            Caution(
                f"{failed} trials failed",
                "They lower the coverage of the means. If a system fails on the hard scenarios, "
                "its means are those of the easy ones.",
            )
        )
    few = [name for name, summary in systems.items() if summary.trials < _FEW]
    if few:
        said.append(
            Caution(
                f"Few conversations: under {_FEW} for {len(few)} of {len(systems)} systems",
                "The intervals are wide, and a difference that is not significant may still be "
                "there.",
            )
        )
    return said
