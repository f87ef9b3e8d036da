"""How far the numbers can be trusted: the caveats depend on who rated and on the results."""

from collections.abc import Sequence

from recjury.report.excerpt import one_line
from recjury.report.findings import CampaignFindings
from recjury.report.participants import Participants
from recjury.results.caveats import Caveat, about_campaign

_FEW = 30  # conversations of a system below which an interval is wide


def caveats(
    found: CampaignFindings, participants: Participants, *, wished: bool
) -> tuple[Caveat, ...]:
    """The caveats of a campaign; `wished` says that targets were found by their attributes."""
    return (
        *(Caveat(one_line(each.heading, 600), each.text) for each in about_campaign(found.summary)),
        *_about_raters(participants),
        *_about_users(participants),
        *_about_targets(found, wished=wished),
        *_about_gaps(found),
    )


def _about_raters(participants: Participants) -> list[Caveat]:
    return _holding(
        (
            participants.measured,
            f"{_all(participants.measured)}measured, not judged by a language model",
            "A measured judge counts what its rubric asks for, as far as this can be computed "
            "from text, lists and a catalogue. Its scores compare systems with each other. "
            "They do not replace the judgement of a model or a person. Do not compare them "
            "with published scores of model judges.",
        ),
        (
            participants.by_model,
            f"{_all(participants.by_model)}rated by a language model",
            "Model judges can favour long, fluent or familiar text and can be wrong about "
            "items. This page does not measure how well they agree with people: compare "
            "them with human labels before you rely on small differences.",
        ),
        (
            participants.debater_is_rule,
            "The rule verdict comes from a fixed rule",
            "Each role begins with the plain mean of the scores it answers for and moves "
            "towards the others, further to those that cite more turns. The verdict is a "
            "weighted mean of the factors and adds no judgement to them.",
        ),
        (
            participants.debater_is_model,
            "The verdict comes from a debate between language models",
            "Roles that share a model tend to agree with each other; agreement does not show "
            "that they are right.",
        ),
    )


def _about_users(participants: Participants) -> list[Caveat]:
    return _holding(
        (
            participants.user_is_rule,
            "The user followed fixed rules",
            "The rule user answers from the target's attributes. It behaves in the same way "
            "with all systems. It is more patient and more literal than people are.",
        ),
        (
            participants.user_is_model,
            "The user was played by a language model",
            "Simulated users accept more and complain less than people do. Persuasiveness is "
            "the simulated user's own answer.",
        ),
        (
            participants.is_recorded,
            "Conversations were recorded elsewhere",
            "No simulated user answered the systems, so persuasiveness is not scored. A metric "
            "has no score if the recordings lack what it needs.",
        ),
    )


def _about_targets(found: CampaignFindings, *, wished: bool) -> list[Caveat]:
    played = sum(len(scenarios.played) for scenarios in found.scenarios.values())
    seen = sum(len(scenarios.target_seen) for scenarios in found.scenarios.values())
    return _holding(
        (
            seen,
            f"In {seen} of {played} scenarios a target was already named in the history",
            "A system hits such a target if it repeats the history. This raises Recall@k.",
        ),
        (
            wished,
            "Some targets are all items with the recorded attributes",
            "If a recording has no single target, every item with the wished attributes counts "
            "as a target. Its Recall@k cannot be compared with Recall@k for single targets.",
        ),
    )


def _about_gaps(found: CampaignFindings) -> list[Caveat]:
    few = [name for name, tally in found.systems.items() if tally.conversations < _FEW]
    return _holding(
        (
            few,
            f"Few conversations: under {_FEW} for {len(few)} of {len(found.systems)} systems",
            "The intervals are wide, and systems may differ although the difference is not "
            "significant.",
        ),
    )


def _all(evaluators: Sequence[str]) -> str:
    return f"{', '.join(evaluators)}: {'' if len(evaluators) == 1 else 'all '}"


def _holding(*caveats: tuple[object, str, str]) -> list[Caveat]:
    """Those whose condition is true; each stands before its heading and text."""
    return [Caveat(heading, text) for holds, heading, text in caveats if holds]
