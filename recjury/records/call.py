"""Model calls: the request, the reply, and the stored record of both."""

from typing import Literal, NamedTuple

from recjury.records.reply_form import ReplyForm

# Named tuples, neither pydantic models nor frozen dataclasses: they are made some thousand times a
# second, and those take several times as long.

ChatRole = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One chat message, as the parts that are joined to its text.

    A repeated part (a rubric, a conversation log) is stored once, so a prompt should be cut where
    its repeated texts begin and end. `parts` are joined without a separator.
    """

    role: ChatRole
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The message as it is sent."""
        return "".join(self.parts)


class ChatRequest(NamedTuple):
    """One chat completion to ask for.

    `model` is an alias of the campaign's models. `sample` distinguishes equal requests that must
    not share one reply (the third of five samples). `n` is the number of replies to ask for (see
    `Reply.further`). `schema` asks for a JSON object of this JSON schema, if the endpoint supports
    that. `purpose` says what the call is for ("judge/Novelty", "debate/Linguist/2"); it is
    recorded, but not part of the identity. `attempt` (from 0) counts how often the same was asked
    before because a reply could not be used; retries of a failed call do not count. `room`
    multiplies the limit of tokens, the request's or the model's, after a reply that was cut off.
    `form` is the form that the prompt asks for, for servers that can enforce it; it is not part of
    the identity either. `least_tokens` raises a lower limit when the request is sent, because
    replies of the model need so many; it is not part of the identity, and not recorded.
    """

    model: str
    messages: tuple[Message, ...]
    purpose: str
    temperature: float = 0.0
    max_tokens: int | None = None
    schema: dict[str, object] | None = None
    top_logprobs: int | None = None
    sample: int = 0
    n: int = 1
    attempt: int = 0
    room: int = 1
    form: ReplyForm | None = None
    least_tokens: int = 0


class Usage(NamedTuple):
    """Tokens of a call, and its cost in US dollars; None if the model's prices are unknown.

    `estimated` means that the endpoint did not report the tokens and they were estimated.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    estimated: bool = False


class Choice(NamedTuple):
    """One more reply to the same request; `reasoning` as in `Reply`."""

    text: str
    finish_reason: str
    reasoning: str = ""


class Reply(NamedTuple):
    """A reply. `call` is the call's identity; `finish_reason` is the endpoint's value.

    If log-probabilities were asked for, `logprobs` has (token, log-probability, alternatives) for
    each generated token. `further` are the replies after the first if `n` asked for several; an
    endpoint may send fewer. `usage` is for all replies, `logprobs` for the first. `reused` means
    that the reply came from the store and nothing was sent. `latency` is the time that the last
    attempt took, in seconds; `waited` is how long the call had waited before it for limits and
    between attempts (None: unknown). `text` is the endpoint's text, which may contain thoughts
    (`llm.finished_text` returns the part that was said); `reasoning` has the thoughts that the
    endpoint sent separately. `fingerprint` is the endpoint's name for the configuration that
    answered ("system_fingerprint"); empty if it sends none. `code` is the one that the prompt asked
    for (`prompts.answer_code`); empty if it asked for none.
    """

    call: str
    text: str
    finish_reason: str
    model: str
    usage: Usage = Usage()
    logprobs: tuple[tuple[str, float, tuple[tuple[str, float], ...]], ...] = ()
    reused: bool = False
    latency: float = 0.0
    attempts: int = 1
    further: tuple[Choice, ...] = ()
    reasoning: str = ""
    waited: float | None = None
    fingerprint: str = ""
    code: str = ""

    def each(self) -> "tuple[Reply, ...]":
        """All replies to the request, each as a separate `Reply`."""
        rest = (self._replace(**choice._asdict(), logprobs=()) for choice in self.further)
        return (self, *rest) if self.further else (self,)


class CallRecord(NamedTuple):
    """A finished call, as it is stored.

    `unit` is the conversation, evaluation or campaign that asked first.
    """

    identity: str
    request: ChatRequest
    reply: Reply
    unit: str | None
    started_at: float


class ExpectedCalls(NamedTuple):
    """Calls of one kind to one model, before they are made.

    `once` is their number if no request has to be repeated, `most` the largest possible number.
    `prompt_tokens` and `completion_tokens` are the average of one call.
    """

    model: str
    kind: str
    once: int
    most: int
    prompt_tokens: int
    completion_tokens: int
