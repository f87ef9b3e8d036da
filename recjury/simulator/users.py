"""Every simulated user that a campaign file can name, and own users, which are guarded."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from recjury.errors import UnitFailed
from recjury.plugins import (
    MISSING,
    TIMEOUT,
    Registry,
    call_plugin,
    made_identity,
    make_instance,
    read_attribute,
    read_settings,
    redirect_stdout,
    require_parts,
)
from recjury.records import (
    JSON,
    ConversationLog,
    Rating,
    Status,
    UserContext,
    UserSimulator,
    Utterance,
    persuasiveness_subject,
)

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue

USERS: Registry[Callable[..., object]] = Registry(
    "user",
    "recjury.users",
    {
        "llm": "recjury.simulator.llm_user:LlmUser",
        "rule": "recjury.simulator.rule_user:RuleUser",
    },
)
"""The simulated users by kind."""


def load_python_user(
    path: str, catalogue: "Catalogue", *, seed: int, options: Mapping[str, object]
) -> UserSimulator:
    """Make the user at `path`: "module:Class", or the name of an entry point.

    It is called as `Class(catalogue, seed=seed, **options)`. Raises ConfigError if it cannot be
    imported or made, or has no `speak` and `rewrite`.
    """
    with redirect_stdout():
        maker = USERS.load(path)
        user = make_instance(maker, path, catalogue, seed=seed, **options)
        return GuardedUser(user, path, {**made_identity(maker, path, options), "seed": seed})


class GuardedUser:
    """A simulated user of one's own: its errors fail one conversation and not the campaign.

    `speak(context)` and `rewrite(context, utterance, leaks)` return a text or an `Utterance`;
    `persuasiveness(log)` may be left out. They are `async def`, or plain `def`, which run in
    threads.
    """

    def __init__(self, user: object, path: str, made: Mapping[str, JSON]):
        """`made` says what it was made from. Raises ConfigError for an object that is no user."""
        require_parts(user, ("speak", "rewrite"), path, "user")
        self._user, self.name = user, path.rpartition(":")[2]
        own = read_settings(user, path)
        self.settings: Mapping[str, JSON] = {"kind": "python", **made, "user": own}

    async def speak(self, context: UserContext) -> Utterance:
        """What it says next. Raises UnitFailed if it raises, is late, or answers wrongly."""
        return self._utterance(await self._call("speak", context))

    async def rewrite(
        self, context: UserContext, utterance: str, leaks: Sequence[str]
    ) -> Utterance:
        """`utterance` again, without the words in `leaks`. Raises as `speak`."""
        return self._utterance(await self._call("rewrite", context, utterance, tuple(leaks)))

    async def persuasiveness(self, log: ConversationLog) -> Rating:
        """How persuasive the conversation was, 0 to 2; unscored if the user does not say it."""
        if read_attribute(self._user, "persuasiveness", self.name) is MISSING:
            subject = persuasiveness_subject(self.name)
            return subject.unscored(Status.NOT_MEASURED, f"{self.name} does not rate it")
        found = await self._call("persuasiveness", log)
        if not isinstance(found, Rating):
            raise UnitFailed(f"{self.name}: expected a Rating, got {type(found).__name__}")
        return found

    async def _call(self, method: str, *given: object) -> object:
        return await call_plugin(
            getattr(self._user, method), *given, name=self.name, within=TIMEOUT
        )

    def _utterance(self, found: object) -> Utterance:
        if isinstance(found, str):
            return Utterance(text=found)
        if not isinstance(found, Utterance):
            raise UnitFailed(f"{self.name}: expected a text, got {type(found).__name__}")
        return found
