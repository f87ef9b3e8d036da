"""Rating what is recorded: logs of others, or the conversations of an earlier campaign."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from recjury import plugins
from recjury.campaign.config import Config
from recjury.campaign.prepare import Open, Prepared, prepared
from recjury.campaign.run import (
    Choose,
    Executor,
    Finished,
    Keeper,
    Progress,
    Wait,
    Work,
    budget_of,
    carry_out,
    rate,
)
from recjury.corpora import Recording, open_corpus
from recjury.errors import UserError
from recjury.mistakes import made
from recjury.records import ConversationLog, digest, part_name
from recjury.store import PlannedConversation, Store, Todo


class Recorded(NamedTuple):
    """Recordings as conversations: their rows and their logs."""

    rows: Sequence[PlannedConversation]
    logs: Mapping[str, ConversationLog]


def catalogues_of(recordings: Iterable[Recording]) -> dict[str, str]:
    """The catalogue of each corpus of recordings. Raises UserError if one has two."""
    found: dict[str, str] = {}
    for each in recordings:
        first = found.setdefault(each.corpus, each.catalogue)
        if first != each.catalogue:
            raise UserError(
                f"{each.corpus}: one corpus has one catalogue, got {first!r} and "
                f"{each.catalogue!r}: give these conversations a `corpus` of their own"
            )
    return found


def recorded(recordings: Sequence[Recording]) -> Recorded:
    """The recordings as conversations that are over. Raises UserError for an unknown catalogue.

    A system's version is that of all its recordings: if one of them changes, it is a new one.
    """
    corpora = {name: open_corpus(name) for name in {r.catalogue for r in recordings} if name}
    logs: dict[str, ConversationLog] = {}
    of_system: dict[str, list[str]] = {}
    for each in recordings:
        corpus = corpora.get(each.catalogue)
        log = each.log(corpus)
        id_ = digest(log, each.system, each.user, each.repeat, corpus.digest if corpus else "")
        logs[id_] = log
        of_system.setdefault(each.system, []).append(id_)
    versions = {system: digest(sorted(ids)) for system, ids in of_system.items()}
    rows = [
        PlannedConversation(
            conversation=id_,
            ordinal=ordinal,
            system=each.system,
            version=versions[each.system],
            user=each.user,
            user_version="",
            corpus=each.corpus,
            scenario=each.id,
            repeat=each.repeat,
        )
        for ordinal, (id_, each) in enumerate(zip(logs, recordings, strict=True))
    ]
    return Recorded(rows, logs)


async def judge(
    config: Config,
    conversations: Recorded,
    store: Store,
    *,
    open_provider: Open | None = None,
    retry: bool = True,
    choose: Choose | None = None,
    executor: Executor | None = None,
    take_over: bool = False,
    wait: Wait | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Finished:
    """Rate recorded conversations by the campaign's evaluators. Raises UserError and Stop.

    What is rated already is not rated again; without `retry`, what failed stays as it is. With
    `choose`, only what it chooses is rated. An `executor` works it off in place of this process.
    With `wait`, it goes on when batches are over.
    """
    budget = budget_of(config, store)
    async with prepared(
        config, store, open_provider=open_provider, budget=budget, only_rates=True
    ) as ready:
        work = to_rate(conversations, ready, store).only(choose)
        return await carry_out(
            ready,
            work,
            store,
            executor=executor,
            retry=retry,
            take_over=take_over,
            wait=wait,
            progress=progress,
        )


def to_rate(conversations: Recorded, ready: Prepared, keeper: Keeper) -> Work:
    """Conversations that are over, which are only rated."""

    async def step(left: Todo) -> None:
        log = await keeper.log(left.conversation)
        if log is not None:
            await rate(log, left, ready, keeper)

    return Work(conversations.rows, step, conversations.logs)


Make = Callable[[dict[str, Any]], Config]
"""Makes the campaign with judges and models; the keys that it is given come first."""


def to_judge(name: str, recordings: Sequence[Recording], make: Make) -> tuple[Config, Recorded]:
    """The campaign of recordings, and their conversations. Raises UserError."""
    given: dict[str, Any] = {"name": name, "scenarios": [], "systems": []}
    return make(given | {"recordings": catalogues_of(recordings)}), recorded(recordings)


def to_judge_again(store: Store, name: str, make: Make) -> tuple[Config, Recorded]:
    """An earlier campaign with other evaluators, and its conversations. Raises UserError."""
    name = store.campaign(name)
    earlier = made(Config, store.config(name))
    judges = make({"name": name, "scenarios": [], "recordings": {name: ""}})
    return _rated_again(earlier, judges), Recorded(store.played(name), {})


def _rated_again(earlier: Config, judges: Config) -> Config:
    """An earlier campaign with the models and evaluators of another one beside its own.

    An evaluator takes the place of an earlier one of its name.
    """
    names = {part_name(part) for part in judges.evaluators}
    kept = (part for part in earlier.evaluators if part_name(part) not in names)
    plugins.look_in(judges.folder)
    config = earlier.model_copy(
        update={
            "models": {**earlier.models, **judges.models},
            "evaluators": (*judges.evaluators, *kept),
            "attempts": judges.attempts,
            "budget": judges.budget or earlier.budget,
        }
    )
    config._file = judges._file
    return config
