"""One rating of a turn or dialogue: by log-probabilities, or read from what a model writes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import fmean
from typing import Literal, NamedTuple, TypeVar

from recjury.corpora.uss import SCALE
from recjury.judges.dialogue_quality.examples import ExamplePools
from recjury.judges.dialogue_quality.prompts import (
    BINARY,
    Labels,
    Order,
    QualityPrompt,
    QualityPrompts,
)
from recjury.judges.dialogue_quality.subjects import LabelledSubject, Subject
from recjury.judges.fitting import ask_what_fits
from recjury.llm import (
    ChoiceOdds,
    ParsedReply,
    RatedText,
    SupportsComplete,
    ask,
    choice_odds,
    gather,
    parse_rating,
)
from recjury.prompts import code_of
from recjury.records import JSON, REASONS, ChatRequest, RatingForm, Status

T = TypeVar("T")

LOW, HIGH = SCALE
Method = Literal["logits", "generation"]


@dataclass(frozen=True, slots=True)
class AskingForm:
    """How a model is asked.

    `top_k` is how many of the likeliest ratings are weighed (section 3, K; the paper does not say
    how many). `samples` replies are generated at `temperature`. `k` examples are shown, and random
    ones are drawn for each of `runs`.
    """

    method: Method = "logits"
    order: Order = "analysis-first"
    labels: Labels = "likert"
    top_k: int = 5
    temperature: float = 0.7
    samples: int = 1
    k: int = 0
    runs: int = 1


class RunScore(NamedTuple):
    """The score of one run, from 1 to 5, or the reason why there is none.

    `left_out` counts the oldest turns that the prompt leaves out, `left_out_of_examples` those of
    its examples. `mass` is the probability of all ratings together. `said` is what the model wrote
    besides a rating.
    """

    score: float | None
    status: Status = Status.SCORED
    reason: str = ""
    calls: tuple[str, ...] = ()
    left_out: int = 0
    left_out_of_examples: int = 0
    mass: float = 1.0
    said: str = ""
    repaired: str = ""


class QualityRater:
    """Rates turns and dialogues with one model; `model` is its alias."""

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        form: AskingForm | None = None,
        examples: ExamplePools | None = None,
        *,
        purpose: str = "dialogue-quality",
    ):
        """`examples` are needed if the form has a `k` above 0."""
        self.form = form or AskingForm()
        self._gateway = gateway
        self._examples = examples or ExamplePools({}, "")
        self._purpose = purpose
        self.model = model
        self.prompts = QualityPrompts(
            "logits" if self.form.method == "logits" else self.form.order, self.form.labels
        )

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Model, prompts, and how it is asked."""
        form = self.form
        plain: dict[str, JSON] = {
            "model": self.model,
            "prompts": self.prompts.identity,
            "method": form.method,
            "labels": form.labels,
            "k": form.k,
        }
        if form.method == "logits":
            return {**plain, "top_k": form.top_k, "runs": form.runs}
        return {
            **plain,
            "order": form.order,
            "temperature": form.temperature,
            "samples": form.samples,
            "runs": form.runs,
        }

    @property
    def data(self) -> Mapping[str, JSON]:
        """The content of the examples."""
        if not self.form.k:
            return {}
        return {"examples": self._examples.identity}

    async def rate(self, subject: Subject) -> tuple[RunScore, ...]:
        """The score of each run.

        Raises ConfigError if there are too few examples, and ProviderError if log-probabilities are
        wanted and the endpoint sends none.
        """
        return tuple(await gather(self._run(subject, run) for run in range(self.form.runs)))

    async def _run(self, subject: Subject, run: int) -> RunScore:
        form = self.form
        examples: tuple[LabelledSubject, ...] = ()
        if form.k:  # in a thread: dialogues may have to be embedded
            pool = self._examples.pools[subject.level]
            examples = await asyncio.to_thread(pool.choose, subject, form.k, run)
        if form.method == "logits":
            return await self._weighed(subject, examples)
        first = run * form.samples
        return _mean(
            await gather(
                self._generated(subject, examples, first + sample) for sample in range(form.samples)
            )
        )

    async def _weighed(self, subject: Subject, examples: Sequence[LabelledSubject]) -> RunScore:
        """The expected rating under the probabilities of the likeliest ones (equations 2 and 3)."""

        async def odds(prompt: QualityPrompt) -> ParsedReply[ChoiceOdds]:
            request = self._request(prompt, subject)
            return await choice_odds(self._gateway, request, self.prompts.choices)

        found, prompt = await ask_what_fits(self.prompts.shorter(subject, examples), odds)
        if found.value is None:
            return _lost(found, prompt)
        score = expected_rating(found.value.odds, self.form.labels, self.form.top_k)
        shown = ", ".join(f"{word} {share:.3f}" for word, share in found.value.odds.items())
        return RunScore(
            score,
            calls=found.calls,
            left_out=prompt.left_out,
            left_out_of_examples=prompt.left_out_of_examples,
            mass=found.value.mass,
            said=f"probabilities: {shown}",
        )

    async def _generated(
        self, subject: Subject, examples: Sequence[LabelledSubject], sample: int
    ) -> RunScore:
        """The rating that the model writes (Lin and Chen 2023)."""

        async def rated(prompt: QualityPrompt) -> ParsedReply[RatedText]:
            code = code_of(prompt.messages)
            first = self.form.order == "rating-first"
            request = replace(
                self._request(prompt, subject),
                temperature=self.form.temperature,
                sample=sample,
                form=RatingForm(code, LOW, HIGH, REASONS, rating_first=first),
            )
            return await ask(
                self._gateway, request, lambda reply: parse_rating(reply, LOW, HIGH, code=code)
            )

        found, prompt = await ask_what_fits(self.prompts.shorter(subject, examples), rated)
        if found.value is None:
            return _lost(found, prompt)
        return RunScore(
            float(found.value.score),
            calls=found.calls,
            left_out=prompt.left_out,
            left_out_of_examples=prompt.left_out_of_examples,
            said=found.value.rationale,
            repaired=found.value.repaired,
        )

    def _request(self, prompt: QualityPrompt, subject: Subject) -> ChatRequest:
        return ChatRequest(
            model=self.model,
            messages=prompt.messages,
            purpose=f"{self._purpose}/{subject.level}",
        )


def expected_rating(odds: Mapping[str, float], labels: Labels, top_k: int) -> float:
    """The sum of the `top_k` likeliest ratings, weighed by their probabilities (equations 2 and 3).

    Of the words for binary labels, "yes" stands for 5 and "no" for 1.
    """
    values = dict(zip(BINARY, (HIGH, LOW), strict=True)) if labels == "binary" else None
    likely = sorted(odds.items(), key=lambda pair: -pair[1])[:top_k]
    total = fsum(share for _, share in likely)
    weighed = fsum(
        (int(word) if values is None else values[word]) * share for word, share in likely
    )
    return min(float(HIGH), max(float(LOW), weighed / total))


def _lost(found: ParsedReply[T], prompt: QualityPrompt) -> RunScore:
    return RunScore(
        None,
        found.status,
        found.reason,
        found.calls,
        prompt.left_out,
        prompt.left_out_of_examples,
    )


def _mean(drawn: Sequence[RunScore]) -> RunScore:
    """The mean of samples; without a score if one of them failed, or if none could be read."""
    if len(drawn) == 1:
        return drawn[0]
    calls = tuple(call for each in drawn for call in each.calls)
    lost = [each for each in drawn if each.score is None]
    failed = next((each for each in lost if each.status is Status.CALL_FAILED), None)
    if failed is not None or len(lost) == len(drawn):
        return (failed or lost[-1])._replace(calls=calls)
    scored = [each for each in drawn if each.score is not None]
    return scored[0]._replace(
        score=fmean(each.score for each in scored if each.score is not None), calls=calls
    )
