"""The simulated user played by a model (CoRE, section 6.4), and how its reply is read."""

import re
from collections.abc import Iterator, Mapping, Sequence

from recjury.errors import CallFailed, ParseError, UnitFailed
from recjury.knowledge import Catalogue
from recjury.llm import (
    Gateway,
    ParsedReply,
    PlannedCall,
    Prompt,
    Question,
    RatingTag,
    ask_each,
    finished_text,
    read_object,
    read_reply,
)
from recjury.prompts import Pack, load_pack
from recjury.records import (
    JSON,
    ChatRequest,
    ConversationLog,
    Message,
    ObjectForm,
    Rating,
    Reply,
    Speaker,
    Status,
    TextForm,
    UserContext,
    Utterance,
    persuasiveness_subject,
)
from recjury.simulator.declared_reply import DeclaredReply, checked_acts, schema
from recjury.simulator.user_prompts import (
    ACTS_PACK,
    PACK,
    PERSON_PACK,
    PERSUASIVENESS_PACK,
    UserPrompts,
)

LONGEST = 1000

_OWN_LABEL = re.compile(r"\A\s*\**(?:user|seeker|me|utterance)\**\s*:\**\s*", re.IGNORECASE)
_OTHER_SPEAKER = re.compile(
    r"^\s*\**(?:system|recommender|assistant|user|seeker)\**\s*:", re.IGNORECASE | re.MULTILINE
)
_TAG = re.compile(
    r"</?(?:user|system|item|target_items|interaction|history|utterance|think)\b", re.IGNORECASE
)
_STRUCTURED = re.compile(r"\A\s*(?:```|[{\[]\s*(?:[\"{\[]|\Z))")
_REFUSAL = re.compile(
    r"\bas an? (?:ai|artificial intelligence)\b|\b(?:ai|large) language model\b"
    r"|\bi(?: am|['’]m) (?:sorry|afraid),? (?:but )?(?:i )?"
    r"(?:can(?:no|['’])t|am unable to|won['’]t) "
    r"(?:assist|help|comply|fulfil|continue|engage|participate|do that|provide)"
    r"|\bi can(?:no|['’])t (?:assist|comply|fulfil|continue|participate|role-?play)"
    r"|\bi(?: am|['’]m) unable to (?:assist|comply|fulfil|continue|participate|role-?play)",
    re.IGNORECASE,
)
_PAIRS = {'"': '"', "“": "”", "'": "'", "‘": "’"}


def read_utterance(reply: Reply) -> str:
    """The utterance in a reply: plain text of at most `LONGEST` characters.

    A leading "User:" and quotation marks around the whole text are removed. Raises ParseError if
    the reply is empty, cut off, structured data, a refusal, or a script for both speakers.
    """
    return _usable(finished_text(reply))


def read_declared(reply: Reply) -> DeclaredReply:
    """The utterance and its acts in a reply; plain words are an utterance that declares nothing.

    Raises ParseError as `read_utterance`.
    """
    try:
        said = read_object(reply, DeclaredReply).value
    except ParseError:
        return _undeclared(reply)
    return DeclaredReply(text=_usable(said.text), acts=said.acts)


def _undeclared(reply: Reply) -> DeclaredReply:
    return DeclaredReply(text=read_utterance(reply))


def _usable(text: str) -> str:
    text = _OWN_LABEL.sub("", text, count=1).strip()
    if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    if not any(sign.isalnum() for sign in text):
        raise ParseError("the utterance holds no words")
    if len(text) > LONGEST:
        raise ParseError(f"the utterance is {len(text)} characters long, at most {LONGEST} wanted")
    if _STRUCTURED.match(text):
        raise ParseError("structured data came instead of plain text")
    if _TAG.search(text) or _OTHER_SPEAKER.search(text):
        raise ParseError("more than the user's own next utterance came")
    if _REFUSAL.search(text):
        raise ParseError("the model refused to play the user")
    return text


_UTTERANCE_TOKENS = 300
_DECLARED_TOKENS = 600
_RATING_TOKENS = 400
_REASONS = 1000  # characters: fewer than the tokens have


class LlmUser:
    """A user that describes what the person of the context has in mind, targets or wishes.

    If a reply is not a usable utterance, the model is asked again, as often as the gateway says. If
    no reply is usable, `speak` raises, and the conversation fails with the reason.
    """

    def __init__(
        self,
        gateway: Gateway,
        model: str,
        catalogue: Catalogue,
        *,
        temperature: float = 0.0,
        pack: Pack | None = None,
        declares: bool = False,
    ):
        """`model` is an alias known to the gateway; `pack` is `core-simulator` by default.

        With `declares`, the model tells with each utterance what that does.
        """
        self._gateway = gateway
        self._model = model
        self._catalogue = catalogue
        self._temperature = temperature
        self._declares = declares
        self._prompts = UserPrompts(pack or load_pack(PACK), catalogue, declares=declares)

    @property
    def name(self) -> str:
        """The model's alias."""
        return self._model

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Model alias, prompts, temperature, limits and catalogue."""
        pack = self._prompts.pack
        return {
            "user": self._model,
            "prompts": f"{pack.id}/{pack.version}/{pack.digest}",
            "temperature": self._temperature,
            "longest": LONGEST,
            "catalogue": self._catalogue.digest,
            **({"declares": _rubric(load_pack(ACTS_PACK))} if self._declares else {}),
        }

    async def speak(self, context: UserContext) -> Utterance:
        """The next utterance. Raises CallFailed, or ParseError if no reply was usable."""
        answer = await self._say(self._prompts.turn(context), "simulator/speak")
        if answer.value is None:
            raise _failure(answer)
        return self._utterance(context, answer.value, answer.calls)

    async def rewrite(
        self, context: UserContext, utterance: str, leaks: Sequence[str]
    ) -> Utterance:
        """The utterance in other words; the text is empty if there was no usable reply.

        Raises CallFailed.
        """
        messages = self._prompts.rewrite(context, utterance, leaks)
        answer = await self._say(messages, "simulator/rewrite")
        if answer.status not in (Status.SCORED, Status.UNREADABLE):
            raise _failure(answer)
        return self._utterance(context, answer.value or DeclaredReply(text=""), answer.calls)

    def _utterance(
        self, context: UserContext, said: DeclaredReply, calls: tuple[str, ...]
    ) -> Utterance:
        if not said.acts:
            return Utterance(text=said.text, calls=calls)
        before = (*context.scenario.history, *context.interaction)
        domain = self._catalogue.wanted_domain(context.scenario)
        found = checked_acts(said, before, self._catalogue, domain)
        return Utterance(
            text=said.text,
            calls=calls,
            acts=found.acts,
            acts_dropped=found.dropped,
            acts_differing=found.differing,
        )

    async def persuasiveness(self, log: ConversationLog) -> Rating:
        """The rating, 0 to 2, with its reason; without a rating, the reason why there is none."""
        (rating,) = await ask_each(self._gateway, [self._persuasiveness_question(log)])
        return rating

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """The calls for the user's utterances in `log`, if none is asked for again."""
        for place, turn in enumerate(log.interaction):
            if turn.speaker is Speaker.USER:
                context = UserContext(scenario=log.scenario, interaction=log.interaction[:place])
                messages = self._prompts.turn(context)
                purpose = "simulator/speak"
                yield PlannedCall(self._request(messages, purpose), purpose)

    def plan_persuasiveness(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """The call for the rating of Persuasiveness, if there is something to rate."""
        question = self._persuasiveness_question(log)
        if isinstance(question, Question):
            yield question.planned(question.purpose)

    @property
    def rubric(self) -> str:
        """The prompts that ask how persuasive the system was, of plain and of other users."""
        return " or ".join(_rubric(load_pack(each)) for each in (PERSUASIVENESS_PACK, PERSON_PACK))

    async def _say(self, messages: tuple[Message, ...], purpose: str) -> ParsedReply[DeclaredReply]:
        read = read_declared if self._declares else _undeclared
        return await read_reply(self._gateway, self._request(messages, purpose), read)

    def _request(self, messages: tuple[Message, ...], purpose: str) -> ChatRequest:
        return ChatRequest(
            model=self._model,
            messages=messages,
            purpose=purpose,
            temperature=self._temperature,
            max_tokens=_DECLARED_TOKENS if self._declares else _UTTERANCE_TOKENS,
            form=ObjectForm(schema(LONGEST)) if self._declares else TextForm(LONGEST),
        )

    def _persuasiveness_question(self, log: ConversationLog) -> Question | Rating:
        rubric = _rubric(self._prompts.persuasiveness_pack(log))
        subject = persuasiveness_subject(self._model, rubric)
        if not log.scenario.targets:
            return subject.unscored(Status.NOT_APPLICABLE, "there is no target to compare with")
        if all(turn.failure is not None for turn in log.system_turns):
            return subject.unscored(Status.NOT_APPLICABLE, "the system gave no usable answer")
        return Question(
            subject=subject,
            model=self._model,
            prompts=(Prompt(self._prompts.persuasiveness(log)),),
            purpose="simulator/persuasiveness",
            form=RatingTag(reasons=_REASONS, typical=150),
            temperature=self._temperature,
            max_tokens=_RATING_TOKENS,
        )


def _rubric(pack: Pack) -> str:
    return f"{pack.id}/{pack.version}/{pack.digest}"


def _failure(answer: ParsedReply[DeclaredReply]) -> UnitFailed:
    if answer.status is not Status.UNREADABLE:
        return CallFailed(f"the simulated user could not be asked: {answer.reason}")
    many = len(answer.calls)
    replies = "1 reply" if many == 1 else f"{many} replies"
    return ParseError(f"the simulated user gave no usable utterance in {replies}: {answer.reason}")
