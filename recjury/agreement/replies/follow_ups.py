"""FED and FULL: how likely a language model finds it that the user complains, or is pleased.

FED (Mehri and Eskenazi 2020b) compares the likelihoods of pleased and displeased follow-ups, for
eight qualities of a reply and ten of a dialogue. FULL (De Bruyn et al. 2022) has five displeased
ones. The follow-ups are the authors'; any causal language model can read them.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from recjury.records import Response

if TYPE_CHECKING:
    from recjury.agreement.replies.likelihood import FollowUpModel


class FollowUps(NamedTuple):
    """What users say next if a quality is there, and if it is missing."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]


def follow_ups(metric: str) -> dict[str, FollowUps]:
    """By quality, those of "fed, replies", "fed, dialogues" or "full", in follow_ups.json."""
    text = (files("recjury.agreement.replies") / "follow_ups.json").read_text("utf-8")
    qualities = json.loads(text)[metric].items()
    return {
        quality: FollowUps(tuple(said["positive"]), tuple(said["negative"]))
        for quality, said in qualities
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
