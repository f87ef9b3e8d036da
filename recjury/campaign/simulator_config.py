"""The key `simulator` of a campaign file: what plays the users, and how long."""

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, JsonValue, model_validator

from recjury.llm import MAIN_MODEL
from recjury.records import LIST_LENGTH, Record

if TYPE_CHECKING:
    from recjury.simulator import SessionSettings


class SimulatorConfig(Record):
    """The simulated user. By default `kind` is llm if the campaign has a model, else rule.

    With `declares`, a user played by a model tells what each of its utterances does. `prompts:
    core-paper` has the paper's plain user. With `ends_on: list`, a conversation ends on a target in
    a list alone, and not on one that only a text named.

    An own user is "module:Class", or what an installed package offers; `options` are given to it.
    """

    kind: str | None = None
    options: dict[str, JsonValue] = Field(default_factory=dict)
    model: str = MAIN_MODEL
    prompts: Literal["core", "core-paper"] = "core"
    temperature: float = Field(default=0.7, ge=0, le=2)
    declares: bool = False
    min_rounds: int = Field(default=3, ge=1, le=50)
    max_rounds: int = Field(default=5, ge=1, le=50)
    list_length: int = Field(default=LIST_LENGTH, ge=1, le=100)
    shows_list: bool = True
    unique_values: Literal["block", "allow"] = "block"
    ends_on: Literal["told", "list"] = "told"

    @property
    def session(self) -> "SessionSettings":
        """How long conversations last, and what counts as a hit."""
        from recjury.simulator import SessionSettings

        return SessionSettings(
            self.min_rounds, self.max_rounds, self.list_length, self.shows_list, self.ends_on
        )

    @property
    def is_own(self) -> bool:
        """Whether the user is one's own code."""
        return self.kind not in (None, "llm", "rule")

    @model_validator(mode="after")
    def _kind_is_known(self) -> Self:
        if self.is_own:
            from recjury.simulator.users import USERS

            if ":" not in str(self.kind) and self.kind not in USERS.names:
                raise ValueError(USERS.unknown(self.kind))
        elif self.options:
            raise ValueError("`options` are for a user of your own: leave them out")
        return self

    @model_validator(mode="after")
    def _rounds_can_end(self) -> Self:
        if self.min_rounds > self.max_rounds:
            raise ValueError(
                f"min_rounds ({self.min_rounds}) must not exceed max_rounds ({self.max_rounds})"
            )
        if self.ends_on == "list" and not self.shows_list:
            raise ValueError("`ends_on: list` needs `shows_list: true`: leave one of them out")
        return self
