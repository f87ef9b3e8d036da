"""Forks: a debate run again from one of its rounds on, with a change in that round.

The rounds before the fork's are kept. In its own round, edited statements are replaced, and roles
with another model speak again. All later rounds are run again. New statements have the installed
prompts, and the whole fork has the installed rules, even if its original had earlier ones. The
original stays in the store beside its fork.
"""

from typing import Annotated

from pydantic import Field, JsonValue

from recjury.debate.rated_log import RatedLog
from recjury.debate.rounds import EDITED, Debater, run_debate
from recjury.debate.rules import is_over
from recjury.errors import ConfigError
from recjury.records import (
    OVERALL_SCALE,
    Debate,
    DebateTranscript,
    Record,
    Role,
    Statement,
    digest,
)

Score = Annotated[float, Field(ge=OVERALL_SCALE[0], le=OVERALL_SCALE[1])]


class Edit(Record):
    """What replaces a statement's text and its score; None keeps the original."""

    text: str | None = Field(default=None, min_length=1)
    score: Score | None = None


class Fork(Record):
    """How a fork differs from its original, and who debates in its new rounds.

    `round` is the first round in which they differ (1-based). `models` has the new model's alias
    for each role that another model plays from there on. `debaters` is everything that can change
    new statements: the debaters' settings, and the settings of their models.
    """

    round: int = Field(ge=1)
    max_rounds: int = Field(ge=1)
    edits: dict[Role, Edit] = Field(default_factory=dict)
    models: dict[Role, str] = Field(default_factory=dict)
    debaters: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def protocol(self) -> str:
        """The protocol of its new rounds; empty if `debaters` does not say."""
        named = self.debaters.get("protocol")
        return named if isinstance(named, str) else ""

    def opening(self, original: DebateTranscript) -> tuple[Statement, ...]:
        """The statements that the fork begins with: kept from `original`, or edited."""
        kept = [said for said in original.statements if said.round < self.round]
        kept += [
            _edited(said, self.edits[said.role]) if said.role in self.edits else said
            for said in original.of_round(self.round)
            if said.role in self.edits or said.role not in self.models
        ]
        return tuple(kept)


def fork_id(original: str, fork: Fork) -> str:
    """The identity of a fork of the evaluation whose identity is `original`."""
    return digest(["fork", original, fork])


def check_fork(fork: Fork, original: DebateTranscript) -> None:
    """Raise ConfigError for a fork that is impossible for `original`, or equal to it."""
    if fork.round > original.rounds:
        held = "1 round" if original.rounds == 1 else f"{original.rounds} rounds"
        raise ConfigError(f"there is no round {fork.round} to fork from: the debate has {held}")
    if fork.max_rounds < fork.round:
        raise ConfigError(
            f"a fork from round {fork.round} has at least {fork.round} rounds, "
            f"got a limit of {fork.max_rounds}"
        )
    for role, edit in fork.edits.items():
        _check_edit(edit, original.of_round(fork.round)[list(Role).index(role)])
    until_then = tuple(said for said in original.statements if said.round <= fork.round)
    if fork.models or fork.opening(original) != until_then:
        return
    if fork.max_rounds == original.max_rounds:
        raise ConfigError(
            "nothing would differ: replace a statement, a score, a model or the round limit"
        )
    if is_over(original.of_round(fork.round), fork.protocol or original.protocol):
        raise ConfigError(
            f"nothing would differ: the debate is over after round {fork.round}, "
            "whatever the round limit"
        )


def _check_edit(edit: Edit, said: Statement) -> None:
    where = f"{said.role} in round {said.round}"
    if edit.text is None and not said.text:
        raise ConfigError(f"{where} said nothing: give it a statement as well")
    if edit.score is None and said.score is None:
        raise ConfigError(f"{where} has no score: give it one as well")


async def run_fork(
    fork: Fork,
    original: DebateTranscript,
    rated: RatedLog,
    debaters: Debater,
) -> Debate:
    """The fork of `original`, a debate of `rated`.

    Raises what `check_fork` raises.
    """
    check_fork(fork, original)
    opening = fork.opening(original)
    return await run_debate(rated, debaters, max_rounds=fork.max_rounds, opening=opening)


def parse_role(name: str) -> Role:
    """The role called `name`, in any case and with - or _ for spaces. Raises ConfigError."""
    known = {str(role).lower(): role for role in Role}
    role = known.get(name.lower().replace("-", " ").replace("_", " ").strip())
    if role is None:
        names = ", ".join(each.replace(" ", "-") for each in known)
        raise ConfigError(f"no role is called {name!r} (known: {names})")
    return role


def _edited(said: Statement, edit: Edit) -> Statement:
    """`said` with the edit; `said` itself if the edit changes nothing."""
    text = said.text if edit.text is None else edit.text
    score = said.score if edit.score is None else edit.score
    if (text, score) == (said.text, said.score):
        return said
    return Statement(role=said.role, round=said.round, speaker=EDITED, text=text, score=score)
