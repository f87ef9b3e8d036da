"""Problems of input that can be used all the same, told on standard error."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from recjury.cli import output

if TYPE_CHECKING:
    from recjury.corpora.data_problems import Problem

_SHOWN = 5  # problems of one kind that are spelled out


def say_problems(problems: "Iterable[Problem]") -> None:
    """Everything that is wrong, by kind, on standard error; the first few of each spelled out."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(str(problem.fault), []).append(problem)
    for kind, some in kinds.items():
        output.say(f"{kind}: {len(some)}")
        for problem in islice(some, _SHOWN):
            output.say(f"  {problem}")
        if len(some) > _SHOWN:
            output.say(f"  and {len(some) - _SHOWN} more")
