"""FED and FULL: how likely a language model finds it that the user complains, or is pleased.

FED (Mehri and Eskenazi 2020b) compares the likelihoods of pleased and displeased follow-ups, for
eight qualities of a reply and ten of a dialogue. FULL (De Bruyn et al. 2022) has five displeased
ones. The follow-ups are the authors'; any causal language model can read them.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from recjury.records import Response

if TYPE_CHECKING:
    from recjury.agreement.replies.likelihood import FollowUpModel


class FollowUps(NamedTuple):
    """What users say next if a quality is there, and if it is missing."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]


_SENSE = ("That makes sense!", "You have a good point.")
FED_TURN: Mapping[str, FollowUps] = {
    "interesting": FollowUps(
        (
            "Wow that is really interesting.",
            "That's really interesting!",
            "Cool! That sounds super interesting.",
        ),
        (
            "That's not very interesting.",
            "That's really boring.",
            "That was a really boring response.",
        ),
    ),
    "engaging": FollowUps(
        (
            "Wow! That's really cool!",
            "Tell me more!",
            "I'm really interested in learning more about this.",
        ),
        (
            "Let's change the topic.",
            "I don't really care. That's pretty boring.",
            "I want to talk about something else.",
        ),
    ),
    "specific": FollowUps(
        ("That's good to know. Cool!", "I see, that's interesting.", "That's a good point."),
        (
            "That's a very generic response.",
            "Not really relevant here.",
            "That's not really relevant here.",
        ),
    ),
    "relevant": FollowUps(
        (),
        (
            "That's not even related to what I said.",
            "Don't change the topic!",
            "Why are you changing the topic?",
        ),
    ),
    "correct": FollowUps(
        (),
        (
            "You're not understanding me!",
            "I am so confused right now!",
            "I don't understand what you're saying.",
        ),
    ),
    "semantically appropriate": FollowUps(_SENSE, ("That makes no sense!",)),
    "understandable": FollowUps(
        _SENSE,
        (
            "I don't understand at all!",
            "I'm so confused!",
            "That makes no sense!",
            "What does that even mean?",
        ),
    ),
    "fluent": FollowUps(
        _SENSE,
        ("Is that real English?", "I'm so confused right now!", "That makes no sense!"),
    ),
}
FED_DIALOGUE: Mapping[str, FollowUps] = {
    "coherent": FollowUps(
        (),
        (
            "You're making no sense at all.",
            "You're changing the topic so much!",
            "You are so confusing.",
        ),
    ),
    "error recovery": FollowUps(
        (),
        (
            "I am so confused right now.",
            "You're really confusing.",
            "I don't understand what you're saying.",
        ),
    ),
    "consistent": FollowUps(
        (), ("That's not what you said earlier!", "Stop contradicting yourself!")
    ),
    "diverse": FollowUps(
        (),
        (
            "Stop saying the same thing repeatedly.",
            "Why are you repeating yourself?",
            "Stop repeating yourself!",
        ),
    ),
    "depth": FollowUps((), ("Stop changing the topic so much.", "Don't change the topic!")),
    "likeable": FollowUps(
        ("I like you!", "You're super polite and fun to talk to", "Great talking to you."),
        ("You're not very nice.", "You're not very fun to talk to.", "I don't like you."),
    ),
    "understanding": FollowUps(
        (),
        (
            "You're not understanding me!",
            "What are you trying to say?",
            "I don't understand what you're saying.",
        ),
    ),
    "flexible": FollowUps(
        ("You're very easy to talk to!", "Wow you can talk about a lot of things!"),
        ("I don't want to talk about that!", "Do you know how to talk about something else?"),
    ),
    "informative": FollowUps(
        (
            "Thanks for all the information!",
            "Wow that's a lot of information.",
            "You know a lot of facts!",
        ),
        ("You're really boring.", "You don't really know much."),
    ),
    "inquisitive": FollowUps(
        ("You ask a lot of questions!", "That's a lot of questions!"),
        ("You don't ask many questions.", "You don't seem interested."),
    ),
}
FULL: Mapping[str, FollowUps] = {
    "full": FollowUps(
        (),
        (
            "Not really relevant here.",
            "You're really confusing.",
            "You're really boring.",
            "What are you trying to say?",
            "You don't seem interested.",
        ),
    )
}


class FollowUpScorer:
    """The mean over qualities: likelihood of pleased follow-ups minus that of displeased ones.

    A likelihood is the mean log-probability of a follow-up's tokens after the dialogue, and the
    mean over the follow-ups of its kind; 0 where a quality has none. The authors of FED divide by
    the tokens of the whole dialogue, and those of FULL take perplexities: two named departures.
    """

    def __init__(
        self,
        name: str,
        qualities: Mapping[str, FollowUps],
        model: "Callable[[], FollowUpModel]",
    ):
        """`model` loads the model, or returns the one that is loaded."""
        self.name = name
        self._qualities = qualities
        self._texts = tuple(
            dict.fromkeys(
                text for each in qualities.values() for text in (*each.positive, *each.negative)
            )
        )
        self._model = model

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """A score for each reply; None for one without a text."""
        return await asyncio.to_thread(self._scores, responses)

    def _scores(self, responses: Sequence[Response]) -> list[float | None]:
        model = self._model()
        return [self._score(model, each) if each.text.strip() else None for each in responses]

    def _score(self, model: "FollowUpModel", response: Response) -> float:
        turns = [*(turn.text for turn in response.history), response.text]
        likely = dict(zip(self._texts, model.log_likelihoods(turns, self._texts), strict=True))
        return fmean(
            _mean(likely, each.positive) - _mean(likely, each.negative)
            for each in self._qualities.values()
        )


def _mean(likely: Mapping[str, float], texts: Sequence[str]) -> float:
    return fmean(likely[text] for text in texts) if texts else 0.0
