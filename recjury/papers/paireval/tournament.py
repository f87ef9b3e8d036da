"""A tournament of systems: their turns or dialogues compared, and the pair that teaches most next.

Systems are compared in what they said in the same scenario. The strengths are those of Bradley and
Terry (1952), and each comparison counts as a win of the probability that the judge gives.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from pydantic import Field

from recjury.errors import DataError
from recjury.judges.paireval.comparison import Comparer
from recjury.judges.paireval.prompts import Contender
from recjury.llm import gather
from recjury.plugins.extras import require_ranking
from recjury.records import ConversationLog, Level, Record
from recjury.stats.ranking import Match, Standing, Uncertainty, lot, standings


class TournamentPlan(Record):
    """What is compared, and when it ends.

    It ends after `comparisons` (None: when all are made), or with `until_apart` when all neighbours
    in the ranking are apart. `at_once` comparisons are planned together. The order is drawn with
    `seed`.
    """

    level: Literal["turn", "dialogue"] = "dialogue"
    comparisons: int | None = Field(default=None, ge=1)
    until_apart: bool = False
    at_once: int = Field(default=8, ge=1)
    seed: int = 0


class Meeting(NamedTuple):
    """Two systems in one scenario (`block`), and what they said there; `place` is the number of the
    system's turn from 0, None for dialogues."""

    one: str
    other: str
    block: str
    place: int | None
    contenders: tuple[Contender, Contender]


class NextMeeting(NamedTuple):
    """The comparison that would teach most: its systems, its scenario, and its gain (nats)."""

    one: str
    other: str
    scenario: str
    gain: float


class TournamentResult(NamedTuple):
    """The ranking, what was compared, and what would be compared next (None: nothing is left).

    `unscored` counts the reasons of comparisons without a result, `cut` those from which turns were
    left out, `left` those that were not made. `are_apart` is True if all neighbours are 1.96
    standard errors apart.
    """

    standings: tuple[Standing, ...]
    matches: tuple[Match, ...]
    next: NextMeeting | None
    are_apart: bool
    unscored: Mapping[str, int]
    cut: int
    left: int


Watch = Callable[[int, int], None]


def meetings_of(logs: Sequence[ConversationLog], level: Level) -> list[Meeting]:
    """All comparisons of two systems in one scenario: of dialogues, or of turns of one number.

    Repeats of a scenario are compared in their order. Turns without an answer are left out. Raises
    DataError if there are fewer than two systems, or if no scenario has two.
    """
    systems = sorted({log.system for log in logs})
    if len(systems) < 2:
        raise DataError(
            f"a tournament needs two systems or more, got {', '.join(systems) or '0'}: run a "
            "campaign with several, or name its store"
        )
    by_scenario: dict[str, dict[str, list[ConversationLog]]] = {}
    for log in logs:
        played = by_scenario.setdefault(log.scenario.pair_id, {})
        played.setdefault(log.system, []).append(log)
    found = [
        meeting
        for block, played in by_scenario.items()
        for one, other in combinations(sorted(played), 2)
        for logs_of_both in zip(played[one], played[other], strict=False)
        for meeting in _of_two(one, other, block, logs_of_both, level)
    ]
    if not found:
        raise DataError("no scenario was played by two systems")
    return found


async def run_tournament(
    comparer: Comparer,
    meetings: Sequence[Meeting],
    plan: TournamentPlan,
    watch: Watch = lambda _made, _of: None,
) -> TournamentResult:
    """Compare until the plan's end; the same meetings, plan and replies give the same result.

    `watch` is told how many comparisons were made, and of how many. Raises ConfigError if `evalica`
    is not installed.
    """
    require_ranking("a tournament")
    systems = sorted({name for each in meetings for name in (each.one, each.other)})
    waiting = _waiting(meetings, plan.seed)
    most = min(plan.comparisons or len(meetings), len(meetings))
    matches: list[Match] = []
    unscored: Counter[str] = Counter()
    made = cut = 0
    while made < most and not (plan.until_apart and matches and _are_apart(systems, matches)):
        batch = list(_planned(systems, matches, waiting, min(plan.at_once, most - made)))
        found = await gather(comparer.compare(*each.contenders) for each in batch)
        for meeting, judged in zip(batch, found, strict=True):
            cut += judged.left_out > 0
            if judged.value is None:
                unscored[judged.reason] += 1
            else:
                matches.append(Match(meeting.one, meeting.other, judged.value.score, meeting.block))
        made += len(batch)
        watch(made, most)
    return TournamentResult(
        standings(systems, matches, seed=plan.seed),
        tuple(matches),
        _next(systems, matches, waiting),
        _are_apart(systems, matches),
        dict(unscored),
        cut,
        len(meetings) - made,
    )


_Waiting = Mapping[tuple[str, str], deque[Meeting]]


def _waiting(meetings: Sequence[Meeting], seed: int) -> _Waiting:
    """The comparisons of each pair of systems, in random order."""
    order = sorted(
        meetings, key=lambda each: lot(seed, each.one, each.other, each.block, each.place)
    )
    found: dict[tuple[str, str], deque[Meeting]] = {}
    for each in order:
        found.setdefault((each.one, each.other), deque()).append(each)
    return found


def _planned(
    systems: Sequence[str], matches: Sequence[Match], waiting: _Waiting, number: int
) -> Iterator[Meeting]:
    """The next comparisons: each time one of the pair of systems that would teach most."""
    known = Uncertainty(systems, matches)
    for _ in range(number):
        open_pairs = [pair for pair, some in waiting.items() if some]
        if not open_pairs:
            return
        best = max(sorted(open_pairs), key=lambda pair: known.gain(*pair))
        known.add(*best)
        yield waiting[best].popleft()


def _next(
    systems: Sequence[str], matches: Sequence[Match], waiting: _Waiting
) -> NextMeeting | None:
    known = Uncertainty(systems, matches)
    open_pairs = sorted(pair for pair, some in waiting.items() if some)
    if not open_pairs:
        return None
    best = max(open_pairs, key=lambda pair: known.gain(*pair))
    return NextMeeting(*best, waiting[best][0].block, known.gain(*best))


def _are_apart(systems: Sequence[str], matches: Sequence[Match]) -> bool:
    return Uncertainty(systems, matches).are_apart()


def _of_two(
    one: str,
    other: str,
    block: str,
    logs: tuple[ConversationLog, ConversationLog],
    level: Level,
) -> Iterator[Meeting]:
    if level is Level.DIALOGUE:
        first, second = (Contender((*log.scenario.history, *log.interaction)) for log in logs)
        if all(log.system_turns for log in logs):
            yield Meeting(one, other, block, None, (first, second))
        return
    turns = zip(*(log.system_turn_indices for log in logs), strict=False)
    for number, places in enumerate(turns):
        if any(log.interaction[at].failure for log, at in zip(logs, places, strict=True)):
            continue
        a, b = (_turn(log, at) for log, at in zip(logs, places, strict=True))
        yield Meeting(one, other, block, number, (a, b))


def _turn(log: ConversationLog, at: int) -> Contender:
    before = (*log.scenario.history, *log.interaction[:at])
    return Contender(before, log.interaction[at].text)
