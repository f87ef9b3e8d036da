"""What endpoints said of their own answers, held against the requests."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from recjury.store import CallSize

_LETTERS_PER_TOKEN = 7  # English has four to five; a prompt that is cut has more
_SMALLER = re.compile(r"^[a-z.]|\b(?:mini|nano|micro|lite)\b")  # gpt-4 is not gpt-4o, nor gpt-4.1
_LONG = 2000  # shorter prompts are counted too roughly


def notes_on(calls: Iterable[CallSize], names: Mapping[str, str]) -> list[str]:
    """One line for each contradiction: prompts that were cut, and models that were not asked.

    `names` are the models that were asked, by alias; calls of other aliases are left out.
    """
    by_alias: defaultdict[str, list[CallSize]] = defaultdict(list)
    for call in calls:
        by_alias[call.model].append(call)
    return [
        note
        for alias, group in sorted(by_alias.items())
        if alias in names
        for note in (*_cut(alias, group), *_others(alias, names[alias], group))
    ]


def _cut(alias: str, calls: Sequence[CallSize]) -> Iterable[str]:
    cut = [
        call
        for call in calls
        if call.tokens_in and call.characters > max(_LONG, _LETTERS_PER_TOKEN * call.tokens_in)
    ]
    if cut:
        worst = max(cut, key=lambda call: call.characters)
        yield (
            f"{alias}: {len(cut):,} of {len(calls):,} prompts were longer than the endpoint read: "
            f"one of {worst.characters:,} characters was counted as {worst.tokens_in:,} tokens"
        )


def _others(alias: str, name: str, calls: Sequence[CallSize]) -> Iterable[str]:
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
