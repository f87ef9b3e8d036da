"""What a habit is: a function that spoils a reply, when it does, and what is expected then."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from tests.habits.meaning import Meaning
from tests.scripted_server import Answer, Body

Group = Literal["reasoning", "answers", "speech", "transport", "errors", "endpoints"]
When = Literal["always", "first", "a while"]
Expected = Literal["read", "unscored", "failed", "stopped"]
"""What becomes of the trial that has the habit all the time: everything is read (maybe after
asking again), what has the habit is unscored, the trial fails, or the campaign cannot go on."""

JUDGES = frozenset({"judge", "persuasiveness"})
DEBATERS = frozenset({"debate"})
RATERS = JUDGES | DEBATERS
SPEAKERS = frozenset({"user", "system"})
ALL = RATERS | SPEAKERS
EVERYTHING = ALL | {"check"}

Spoil = Callable[[Meaning, Body], Answer | None]
SpoilT = TypeVar("SpoilT", bound=Callable[..., Answer | None])


@dataclass(frozen=True)
class Habit:
    """A habit: `spoil` gives the answer instead of the honest one, or None to leave it.

    It concerns the kinds of replies in `on`; "first" spoils only the first answer to each request,
    "a while" those of half a second in the middle of the campaign.
    A `lasting` habit is one of the endpoint: all requests of all trials meet it.
    """

    name: str
    group: Group
    spoil: Spoil
    on: frozenset[str]
    when: When
    expected: Expected
    about: str
    lasting: bool = False


HABITS: dict[str, Habit] = {}


def habit(
    group: Group,
    expected: Expected,
    *,
    on: frozenset[str] = ALL,
    when: When = "always",
    lasting: bool = False,
) -> Callable[[SpoilT], SpoilT]:
    """Register a function of the meaning, or of the meaning and the request, under its name."""

    def register(spoil: SpoilT) -> SpoilT:
        name = spoil.__name__.replace("_", " ")
        assert name not in HABITS, name
        takes = spoil.__code__.co_argcount
        both: Spoil = spoil if takes > 1 else lambda meant, _: spoil(meant)
        about = (spoil.__doc__ or "").strip()
        HABITS[name] = Habit(name, group, both, on, when, expected, about, lasting)
        return spoil

    return register
