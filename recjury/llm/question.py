"""Questions: requests to a model whose answer is a rating, or the reason why there is none.

`await ask(gateway, question)` is the only way from a reply to a rating. A dry run counts the calls
of questions that it plans and does not ask.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from statistics import fmean
from typing import NamedTuple, TypeAlias

from recjury.errors import PromptTooLong, ProviderError, UnitFailed
from recjury.llm.choice_odds import (
    TOP_LOGPROBS,
    ChoiceOdds,
    check_choices,
    read_odds,
    read_rating_odds,
)
from recjury.llm.event_loop import gather
from recjury.llm.reply_parsing import parse_rating
from recjury.llm.reply_reading import Samples, SupportsComplete, read_reply, sample_replies
from recjury.prompts import CODE, asks_for_code
from recjury.records import (
    REASONS,
    ChatRequest,
    ChoiceForm,
    Message,
    Rating,
    RatingForm,
    RatingSubject,
    Reply,
    Status,
)

_CHOICE_TOKENS = 8  # of a reply: some models write a mark or a word before the choice
_LITTLE = 0.5  # of the probability: if all choices together have less, the rationale says so


class Score(NamedTuple):
    """What is read from one reply; `odds` are those of the choices, where they were asked for."""

    value: float
    rationale: str = ""
    repaired: str = ""
    odds: ChoiceOdds | None = None


@dataclass(frozen=True, slots=True)
class RatingTag:
    """The reply has the rating, a whole number, in a tag with the prompt's code.

    The reasons for it, of at most `reasons` characters, stand around the tag; the prompt asks for
    the rating first if it is `rating_first`. A reply has `typical` tokens on average.
    """

    reasons: int = REASONS
    rating_first: bool = False
    typical: int = 250

    def request(self, request: ChatRequest, subject: RatingSubject) -> ChatRequest:
        """`request` with its form."""
        low, high = _whole_scale(subject)
        code = CODE if asks_for_code(request.messages) else ""
        form = RatingForm(code, low, high, self.reasons, self.rating_first, self.typical)
        return request._replace(form=form)

    def read(self, reply: Reply, messages: Sequence[Message], subject: RatingSubject) -> Score:
        """The rating and its reasons. Raises ParseError."""
        rated = parse_rating(reply, *_whole_scale(subject), messages)
        return Score(rated.score, rated.rationale, rated.repaired)


@dataclass(frozen=True, slots=True)
class RatingTagOdds(RatingTag):
    """As `RatingTag`; the score is expected under the probabilities of all ratings in the tag."""

    def request(self, request: ChatRequest, subject: RatingSubject) -> ChatRequest:
        """`request` with its form and log-probabilities."""
        return RatingTag.request(self, request, subject)._replace(top_logprobs=TOP_LOGPROBS)

    def read(self, reply: Reply, messages: Sequence[Message], subject: RatingSubject) -> Score:
        """The expected rating. Raises ParseError."""
        return Score(read_rating_odds(reply, *_whole_scale(subject), messages))


@dataclass(frozen=True, slots=True)
class WordOdds:
    """The reply is one of the words of `values`; the score is their expected value.

    The probabilities are those of the `top` likeliest words (None: of all). `lead` are words of the
    prompt that a model may repeat before its answer.
    """

    values: Mapping[str, float]
    lead: str = ""
    top: int | None = None

    def __post_init__(self) -> None:
        """Raise ConfigError if a word begins with another one."""
        check_choices(tuple(self.values))

    def request(self, request: ChatRequest, subject: RatingSubject) -> ChatRequest:  # noqa: ARG002
        """`request` with its form, log-probabilities, and room for a word."""
        return request._replace(
            top_logprobs=TOP_LOGPROBS,
            max_tokens=request.max_tokens or _CHOICE_TOKENS,
            form=ChoiceForm(tuple(self.values)),
        )

    def read(
        self,
        reply: Reply,
        messages: Sequence[Message],  # noqa: ARG002 (no code is asked for)
        subject: RatingSubject,  # noqa: ARG002
    ) -> Score:
        """The expected value, and the probabilities. Raises ParseError and ConfigError."""
        odds = read_odds(reply, tuple(self.values), lead=self.lead)
        likely = sorted(odds.odds.items(), key=lambda pair: -pair[1])[: self.top]
        total = fsum(share for _, share in likely)
        value = fsum(self.values[word] * share for word, share in likely) / total
        little = f"all answers together had {odds.mass:.3f} of the probability"
        return Score(value, little if odds.mass < _LITTLE else "", odds=odds)


AnswerForm: TypeAlias = RatingTag | RatingTagOdds | WordOdds
"""How a model answers, and how a score is read from that."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of a question; `left_out` counts turns that they leave out to be shorter."""

    messages: tuple[Message, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A request before it is sent, with the number of samples of it that are wanted.

    `kind` ("judge", "face/score") is what a dry run counts it as. With `together`, one request asks
    for all samples. A `shared` call is made once for all conversations.
    """

    request: ChatRequest
    kind: str
    samples: int = 1
    together: bool = True
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request to `model` (an alias) for the rating of `subject`.

    `prompts` are tried in turn until one fits into the model's context. With `samples`, so many
    replies are drawn, and the score is the mean of those that can be read; without, there is one
    reply, and if it cannot be read, the model is told why. `first_sample` numbers the samples, so
    that equal questions get replies of their own. `earlier_calls` are calls whose replies stand in
    the prompt.
    """

    subject: RatingSubject
    model: str
    prompts: Iterable[Prompt]
    purpose: str
    form: AnswerForm = field(default_factory=RatingTag)
    temperature: float = 0.0
    max_tokens: int | None = None
    samples: int | None = None
    first_sample: int = 0
    together: bool = True
    earlier_calls: tuple[str, ...] = ()

    def request(self, prompt: Prompt) -> ChatRequest:
        """The request with this prompt."""
        plain = ChatRequest(
            model=self.model,
            messages=prompt.messages,
            purpose=self.purpose,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            sample=self.first_sample,
        )
        return self.form.request(plain, self.subject)

    def planned(self, kind: str) -> PlannedCall:
        """The call with the first of the prompts, to be counted as this kind."""
        first = next(iter(self.prompts))
        return PlannedCall(self.request(first), kind, self.samples or 1, self.together)


@dataclass(frozen=True, slots=True)
class Answer:
    """The rating that a question got.

    `scores` are those of the samples, in order, None for one that could not be read. `odds` are
    those of the first. `left_out` counts turns that the prompt left out. `failure` is the exception
    of a call that failed.
    """

    rating: Rating
    scores: tuple[float | None, ...] = ()
    odds: ChoiceOdds | None = None
    left_out: int = 0
    failure: UnitFailed | None = None


async def ask(gateway: SupportsComplete, question: Question) -> Answer:
    """The answer to a question. A call that fails is a rating without a score, with the reason.

    Raises ProviderError if probabilities are wanted and the endpoint sends no log-probabilities,
    however often it is asked, and if the endpoint fails in a way that is not specific to this
    request. Raises ConfigError if words cannot be told apart by their probabilities, and ValueError
    without any prompt.
    """
    answer: Answer | None = None
    was_cut = False
    for prompt in question.prompts:
        was_cut = answer is not None
        answer = await _ask_with(gateway, question, prompt)
        if not isinstance(answer.failure, PromptTooLong):
            return answer
    if answer is None:
        raise ValueError("there is no prompt to ask")
    if not was_cut:
        return answer
    reason = f"{answer.rating.reason}, and nothing is left that can be cut"
    return replace(answer, rating=answer.rating.model_copy(update={"reason": reason}))


async def ask_each(
    gateway: SupportsComplete, questions: Iterable[Question | Rating]
) -> tuple[Rating, ...]:
    """The rating that each question gets, in order; where a rating stands already, that one.

    Raises ProviderError and ConfigError as `ask`.
    """

    async def rating(question: Question | Rating) -> Rating:
        if isinstance(question, Rating):
            return question
        return (await ask(gateway, question)).rating

    return tuple(await gather(map(rating, questions)))


async def _ask_with(gateway: SupportsComplete, question: Question, prompt: Prompt) -> Answer:
    request = question.request(prompt)
    reader = _Reader(question, request)
    samples = await _draw(gateway, request, question, reader.read)
    subject, calls = question.subject, (*question.earlier_calls, *samples.calls)
    values = tuple(None if score is None else score.value for score in samples.values)
    if not samples.read:
        reader.check_log_probabilities(samples.status)
        rating = subject.unscored(samples.status, samples.reason, calls=calls)
        return Answer(rating, values, None, prompt.left_out, samples.failure)
    first = samples.read[0]
    rating = subject.scored(
        _within(subject, fmean(score.value for score in samples.read)),
        "; ".join(filter(None, (first.rationale, left_out_turns(prompt.left_out)))),
        calls=calls,
        repaired=first.repaired,
    )
    return Answer(rating, values, first.odds, prompt.left_out)


def left_out_turns(number: int) -> str:
    """That so many turns are missing in a prompt, in words; empty for none."""
    return f"the oldest {number} turns were left out: the prompt was too long" if number else ""


async def _draw(
    gateway: SupportsComplete,
    request: ChatRequest,
    question: Question,
    read: Callable[[Reply], Score],
) -> Samples[Score]:
    if question.samples is not None:
        return await sample_replies(
            gateway, request, question.samples, read, together=question.together
        )
    parsed = await read_reply(gateway, request, read)
    return Samples((parsed.value,), parsed.status, parsed.reason, parsed.calls, parsed.failure)


class _Reader:
    """Reads the replies to one request, and notes whether log-probabilities come with them."""

    def __init__(self, question: Question, request: ChatRequest):
        self._question, self._request = question, request
        self._sent: set[bool] = set()  # whether new replies with a text had log-probabilities

    def read(self, reply: Reply) -> Score:
        """The score in a reply. Raises ParseError."""
        if reply.text.strip() and not reply.reused:
            self._sent.add(bool(reply.logprobs))
        question = self._question
        return question.form.read(reply, self._request.messages, question.subject)

    def check_log_probabilities(self, status: Status) -> None:
        """Raise ProviderError if no reply could be read because none had log-probabilities."""
        wanted = self._request.top_logprobs is not None
        if wanted and status is Status.UNREADABLE and self._sent == {False}:
            raise ProviderError(  # it would send none for any other request either
                f"{self._request.model}: the endpoint sends no log-probabilities: it has to accept "
                "`logprobs` and `top_logprobs`, as `provider: vllm` and `provider: transformers` "
                "do; otherwise use a method that needs none"
            )


def _whole_scale(subject: RatingSubject) -> tuple[int, int]:
    assert subject.high is not None
    return int(subject.low), int(subject.high)


def _within(subject: RatingSubject, score: float) -> float:
    """A mean, without what rounding put beyond the ends of the scale."""
    high = score if subject.high is None else subject.high
    return min(high, max(subject.low, score))
