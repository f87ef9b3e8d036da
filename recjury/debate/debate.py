"""The debate of CoRE (section 4.2): four roles, rounds, a verdict."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from recjury.debate.roles import RolePrompts, roles_of
from recjury.files import nearest
from recjury.llm import Ask, gather
from recjury.llm.prompts import pack
from recjury.records import (
    DEBATE,
    Debate,
    ModelName,
    PackName,
    Rating,
    Record,
    Statement,
    Status,
    agree,
    shipped_in,
)

EDITED = "edited"
"""The speaker of a statement that was edited."""


_in_full = shipped_in("debate", "core", "core-paper")


class DebateSettings(Record):
    """How a debate is held.

    `model` speaks for all roles but those of `roles`, each of which has another model, or an
    AutoGen agent of one's own (`module:make_agent`).
    """

    model: ModelName = "main"
    roles: dict[str, ModelName] = Field(default_factory=dict)
    prompts: Annotated[PackName, AfterValidator(_in_full)] = "debate/core"
    temperature: float = Field(default=0.0, ge=0, le=2)
    max_rounds: int = Field(default=4, ge=1, le=8)

    @model_validator(mode="before")
    @classmethod
    def _full_names(cls, values: Any) -> Any:
        """Roles by their full names. Raises ValueError for a role that the pack lacks."""
        if not isinstance(values, Mapping) or not values.get("roles"):
            return values
        known = {name.casefold(): name for name in roles_of(pack(_in_full(_prompts_of(values))))}
        for name in values["roles"]:
            if name.casefold() not in known:
                raise ValueError(
                    f"there is no role {name!r}{nearest(name, known.values())}: "
                    f"roles are {', '.join(known.values())}"
                )
        roles = {known[name.casefold()]: model for name, model in values["roles"].items()}
        return {**values, "roles": roles}

    def speaker(self, role: str) -> str:
        """The model, or the agent, that speaks for a role."""
        return self.roles.get(role, self.model)


def _prompts_of(values: Mapping[str, Any]) -> str:
    return str(values.get("prompts", DebateSettings.model_fields["prompts"].default))


async def run_debate(
    prompts: RolePrompts, ask: Ask, settings: DebateSettings, opening: Sequence[Statement] = ()
) -> Debate:
    """Debate a log over its ratings, by the prompts that have both.

    Nobody is asked for the statements of `opening`. A role without a scored factor abstains. Raises
    Stop.
    """

    async def state(role: str, number: int, said: Sequence[Statement]) -> Statement:
        """What a role says in a round, spoken by an AutoGen agent that is made for it."""
        from recjury.debate.agents import RoleAgent

        model = settings.speaker(role)
        if all(rating.score is None for rating in prompts.own(role)):
            return abstention(role, number, model)
        agent = RoleAgent(role, prompts, ask, model=model, temperature=settings.temperature)
        return await agent.state(said)

    return await hold(prompts.roles, state, opening, max_rounds=settings.max_rounds)


State = Callable[[str, int, Sequence[Statement]], Awaitable[Statement]]
"""A role's statement in a round, after the statements of all completed rounds."""


async def hold(
    roles: Iterable[str], state: State, opening: Sequence[Statement] = (), *, max_rounds: int
) -> Debate:
    """A debate: in each round all roles speak at the same time, knowing the completed rounds.

    It ends when all scores are equal or `max_rounds` are over. Statements of `opening` stand.
    """
    given = {(said.round, said.role): said for said in opening}
    said: list[Statement] = []

    async def stated(role: str, number: int) -> Statement:
        return given.get((number, role)) or await state(role, number, said)

    for number in range(1, max_rounds + 1):
        spoken = await gather(stated(role, number) for role in roles)
        said += spoken
        if is_over(spoken):
            break
    return Debate(statements=tuple(said), verdict=verdict(said))


def abstention(role: str, number: int, speaker: str) -> Statement:
    """The place of a role in a round that has nothing to go by."""
    return Statement(
        role=role,
        round=number,
        speaker=speaker,
        status=Status.NOT_APPLICABLE,
        reason="none of its factors has a score",
    )


def is_over(spoken: Sequence[Statement]) -> bool:
    """Whether a round is the last one: all agree, nobody can speak, or a call failed.

    A round in which a role is missing is no agreement. After a failed call the debate ends, since
    the next run holds it again.
    """
    heard = [said for said in spoken if said.status is not Status.NOT_APPLICABLE]
    if any(said.status is Status.CALL_FAILED for said in heard):
        return True
    return agree(spoken) or not heard


def verdict(said: Sequence[Statement]) -> Rating:
    """The mean of the last round over the roles that spoke.

    There is none if more than one role that could speak is missing there, or if a call failed.
    """
    last = [each for each in said if each.round == said[-1].round]
    scores = [each.score for each in last if each.score is not None]
    missing = [each for each in last if each.status not in (Status.OK, Status.NOT_APPLICABLE)]
    failed = [each for each in missing if each.status is Status.CALL_FAILED]
    if failed or len(missing) > 1 or (missing and not scores):
        one = (failed or missing)[0]
        return _verdict(status=one.status, reason=f"{len(missing)} roles are missing: {one.reason}")
    if not scores:
        return _verdict(status=Status.NOT_APPLICABLE, reason="no role has a scored factor")
    return _verdict(score=fmean(scores), rationale=_course(said, len(scores)))


def edited(statement: Statement, *, score: float | None = None, text: str = "") -> Statement:
    """Another statement in its place; with a score alone, the text says just that score."""
    number = statement.score if score is None else score
    words = text or f"I give {number:g}."
    return Statement(
        role=statement.role, round=statement.round, speaker=EDITED, text=words, score=number
    )


def _verdict(**outcome: Any) -> Rating:
    return Rating(metric="overall", rater=DEBATE, **outcome)


def _course(said: Sequence[Statement], spoke: int) -> str:
    """How many roles spoke, and the mean before and after the debate."""
    means = [
        fmean(s.score for s in said if s.round == number and s.score is not None)
        for number in dict.fromkeys((1, said[-1].round))
        if any(s.round == number and s.score is not None for s in said)
    ]
    course = f", mean {means[0]:.1f} in round 1 and {means[-1]:.1f} in round {said[-1].round}"
    return f"{spoke} roles spoke{course if len(means) > 1 else ''}"
