"""What endpoints said of their own answers, held against the requests."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_LETTERS_PER_TOKEN = 7  # English has four to five; a prompt that is cut has more
_SMALLER = re.compile(r"^[a-z.]|\b(?:mini|nano|micro|lite)\b")  # gpt-4 is not gpt-4o, nor gpt-4.1
_LONG = 2000  # shorter prompts are counted too roughly


class Said(NamedTuple):
    """One reply: the model's alias and name, the model that the endpoint says has answered, the
    characters of the prompt, and the tokens that the endpoint counted in it.
    """

    alias: str
    name: str
    served: str
    letters: int
    tokens_in: int | None


def notes_on(calls: Iterable[Said]) -> list[str]:
    """One line for each contradiction: prompts that were cut, and models that were not asked."""
    by_model: defaultdict[tuple[str, str], list[Said]] = defaultdict(list)
    for call in calls:
        by_model[call.alias, call.name].append(call)
    return [
        note
        for (alias, name), group in sorted(by_model.items())
        for note in (*_cut(alias, group), *_others(alias, name, group))
    ]


def _cut(alias: str, calls: Sequence[Said]) -> Iterable[str]:
    cut = [
        call
        for call in calls
        if call.tokens_in and call.letters > max(_LONG, _LETTERS_PER_TOKEN * call.tokens_in)
    ]
    if cut:
        worst = max(cut, key=lambda call: call.letters)
        yield (
            f"{alias}: {len(cut):,} of {len(calls):,} prompts were longer than the endpoint read: "
            f"one of {worst.letters:,} characters was counted as {worst.tokens_in:,} tokens"
        )


def _others(alias: str, name: str, calls: Sequence[Said]) -> Iterable[str]:
    served = Counter(call.served for call in calls if call.served)
    if len(served) > 1:
        counts = ", ".join(f"{each} ({number:,})" for each, number in served.most_common())
        yield f"{alias}: more than one model answered: {counts}"
    elif other := next((each for each in served if not _is_same(name, each)), ""):
        yield f"{alias}: {name} was asked, and {other} answered, as the endpoint says"


def _is_same(asked: str, served: str) -> bool:
    """Whether one is the other, a dated version of it, or the same with a provider before it."""
    one, other = (name.casefold().rpartition("/")[2] for name in (asked, served))
    short, long = sorted((one, other), key=len)
    return short in long and not _SMALLER.search(long.partition(short)[2])
