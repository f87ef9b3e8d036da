"""A campaign becomes what a run needs: corpora, gateway, systems, users, evaluators. Once."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from recjury import plugins
from recjury.agents import LoadedSystem, load_system
from recjury.campaign.config import Config, Scenarios
from recjury.corpora import Context, Corpus, draw_corpus, open_corpus, shuffled
from recjury.errors import UserError
from recjury.files import content_digest, nearest
from recjury.judges import Evaluator, check_metrics
from recjury.llm import Budget, Gateway, Model, Provider, Recorder, open_model
from recjury.llm.prompts import pack
from recjury.mistakes import Mistake, made
from recjury.records import (
    FILE,
    LookUp,
    Record,
    Scenario,
    Turn,
    digest,
    identity,
    part_name,
    references,
    variants,
)
from recjury.simulator import SimulatedUser

Open = Callable[[Model], Provider]
"""Opens what answers in place of a model."""

Load = Callable[[Mapping[str, Any], Corpus, LookUp], LoadedSystem]
"""Loads a system by its settings."""

P = TypeVar("P", SimulatedUser, Evaluator)


class NamedUser(NamedTuple):
    """A simulated user with the identity of its settings."""

    name: str
    version: str
    user: SimulatedUser


@dataclass(frozen=True)
class Prepared:
    """What a run needs. Systems are by name and corpus, evaluators by identity.

    `used` are the aliases of the models that one of them asks.
    """

    config: Config
    corpora: Mapping[str, Corpus]
    gateway: Gateway
    systems: Mapping[tuple[str, str], LoadedSystem]
    users: Mapping[str, NamedUser]
    evaluators: Mapping[str, Evaluator]
    used: frozenset[str]

    @cached_property
    def scenarios(self) -> Mapping[tuple[str, str], Scenario]:
        """The scenarios by corpus and id, in their order."""
        return {(name, s.id): s for name, corpus in self.corpora.items() for s in corpus.scenarios}

    def systems_of(self, corpus: str) -> Iterator[LoadedSystem]:
        """The systems as they are for one corpus."""
        return (system for (_, each), system in self.systems.items() if each == corpus)


@asynccontextmanager
async def prepared(
    config: Config,
    recorder: Recorder,
    *,
    open_provider: Open | None = None,
    budget: Budget | None = None,
    limit: int | None = None,
    fresh: Mapping[str, str] | None = None,
    load: Load = load_system,
    only_rates: bool = False,
) -> AsyncIterator[Prepared]:
    """Open all that a campaign names. Raises UserError for what cannot be opened.

    `open_provider` answers in place of the models' endpoints, `limit` takes the first scenarios of
    each corpus, `fresh` labels systems that changed where recjury cannot see it, and `load` may
    load others than those that are named. What `only_rates` needs no systems and no users.
    """
    plugins.look_in(config.folder)
    parts = _Parts(config, corpora_of(config, limit), open_provider or open_model)
    systems: Mapping[tuple[str, str], LoadedSystem] = {}
    users: Mapping[str, NamedUser] = {}
    async with AsyncExitStack() as open_:
        if not only_rates:
            systems = parts.systems(fresh or {}, load)
            for system in systems.values():
                open_.push_async_callback(system.aclose)
            users = parts.users()
        parts.check_talk()
        evaluators = parts.evaluators()
        check_prices(config, parts.used)
        gateway = Gateway(
            parts.models, recorder, parts.open, budget=budget, attempts=config.attempts
        )
        open_.push_async_callback(gateway.aclose)
        for name in sorted(parts.used):
            gateway.line(name)  # a missing key is said before anything is paid
        used = frozenset(parts.used)
        yield Prepared(config, parts.corpora, gateway, systems, users, evaluators, used)


def check_prices(config: Config, aliases: Iterable[str]) -> None:
    """Raise UserError if the budget is in dollars and the price of one of the models is unknown."""
    if config.budget is None or config.budget.dollars is None:
        return
    for alias in sorted(aliases):
        model = config.models.get(alias)
        if model is not None and model.cost(0, 0) is None:
            raise config.error(
                ("models", alias),
                f"the budget is in dollars and the price of {model.name} is unknown: set "
                "`price_in` and `price_out`, or a budget in tokens",
            )


def corpora_of(config: Config, limit: int | None) -> dict[str, Corpus]:
    """The corpora by name, with the scenarios that are played. Raises UserError."""
    found: dict[str, Corpus] = {}
    for number, each in enumerate(config.scenarios):
        try:
            corpus = _opened(each, config.folder)
            if corpus.name in found:
                raise UserError(f"two corpora are called {corpus.name!r}")
        except UserError as error:
            key = "corpus" if each.corpus else "catalogue"
            raise config.error(("scenarios", number, key), str(error)) from None
        fewest = min((n for n in (each.limit, limit) if n is not None), default=None)
        scenarios = corpus.scenarios if each.seed is None else shuffled(corpus.scenarios, each.seed)
        found[corpus.name] = corpus._replace(scenarios=scenarios[:fewest])
    return found


def _opened(scenarios: Scenarios, folder: str) -> Corpus:
    """The corpus with its scenarios. Raises UserError if there are none."""
    if scenarios.draw is not None:
        return draw_corpus(
            scenarios.catalogue, scenarios.draw, seed=scenarios.seed or 0, folder=folder
        )
    corpus = open_corpus(scenarios.corpus, split=scenarios.split, folder=folder)
    if not corpus.scenarios:
        why = corpus.skipped[0] if corpus.skipped else "it has no scenarios"
        raise UserError(f"{scenarios.corpus}: {why}")
    return corpus


class _Parts:
    """Makes the parts of a campaign. An agent that a part refers to becomes a model."""

    def __init__(self, config: Config, corpora: Mapping[str, Corpus], open_provider: Open):
        self.config, self.corpora, self._open_provider = config, corpora, open_provider
        self.models, self.used = dict(config.models), set[str]()
        self._agents: dict[str, Callable[[], Any]] = {}

    def open(self, model: Model) -> Provider:
        """The provider of a model, or of an agent that speaks in its place."""
        if model.name in self._agents:
            from recjury.debate.agents import AgentProvider

            return AgentProvider(self._agents[model.name])
        return self._open_provider(model)

    def systems(self, fresh: Mapping[str, str], load: Load) -> dict[tuple[str, str], LoadedSystem]:
        """The systems by name and corpus."""
        found: dict[tuple[str, str], LoadedSystem] = {}
        names: dict[tuple[str, str], str] = {}
        of_name: dict[str, LoadedSystem] = {}
        for number, settings in self._variants():
            for corpus in self.corpora.values():
                with self._errors_at("systems", number):
                    system = load(settings, corpus, self.look_up)
                key = (system.name, corpus.name)
                if key in found:
                    raise self._taken("systems", number, system.name)
                found[key] = system.labelled(fresh.get(system.name, ""))
                found[key].shares_places_with(of_name.setdefault(system.name, found[key]))
                same = names.setdefault((found[key].version, corpus.name), system.name)
                self._check_differs("systems", number, system.name, same)
        if unknown := sorted(fresh.keys() - {name for name, _ in found}):
            known = ", ".join(dict.fromkeys(name for name, _ in found))
            raise UserError(f"--fresh {unknown[0]}: there is no such system: there are {known}")
        return found

    def _variants(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The settings of each system, with its number in the file."""
        for number, part in enumerate(self.config.systems):
            try:
                yield from ((number, settings) for settings in variants(part))
            except ValueError as error:
                raise self.config.error(("systems", number, "vary"), str(error)) from None

    def users(self) -> dict[str, NamedUser]:
        """The simulated users by name."""
        found: dict[str, NamedUser] = {}
        context = self._context(self.corpora)
        for number, settings in enumerate(self.config.users):
            with self._errors_at("users", number):
                user, source = self._part("users", settings, SimulatedUser)
                version = digest(type(user).__name__, user.RENDERING, self._identity(user), source)
                ready = user.prepared(context)
                self._check_scenarios(ready)
            if ready.name in found:
                raise self._taken("users", number, ready.name)
            found[ready.name] = NamedUser(ready.name, version, ready)
            same = next(name for name, user in found.items() if user.version == version)
            self._check_differs("users", number, ready.name, same)
        return found

    def _check_scenarios(self, user: SimulatedUser) -> None:
        """Raise UserError if a user cannot play a scenario, before anything is paid."""
        for corpus in self.corpora.values():
            for scenario in corpus.scenarios:
                if lacking := user.lacks(scenario):
                    raise UserError(lacking)

    def check_talk(self) -> None:
        """Raise UserError if a model that talks is answered in batches: each turn would wait."""
        for alias in sorted(self.used & self.config.models.keys()):
            if self.models[alias].in_batches:
                raise self.config.error(
                    ("models", alias, "provider"),
                    "openai-batch is for judging: a user or a system that waits for a batch with "
                    "each turn would take days",
                )

    def evaluators(self) -> dict[str, Evaluator]:
        """The evaluators by identity."""
        found: dict[str, Evaluator] = {}
        recorded = {label: open_corpus(of) for label, of in self.config.recordings.items() if of}
        context = self._context({**self.corpora, **recorded})
        for number, settings in enumerate(self.config.evaluators):
            with self._errors_at("evaluators", number):
                rater, source = self._part("evaluators", settings, Evaluator)
                aliases = sorted(references(rater, "model"))  # they are the names of raters
                ready = rater.prepared(context)
                check_metrics(ready)
                parts = [rater.RENDERING, self._identity(rater), source, aliases]
                parts += [] if ready.drawn is None else [ready.drawn]
                version = digest(type(rater).__name__, *parts)
            if ready.name in {each.name for each in found.values()} or version in found:
                raise self._taken("evaluators", number, ready.name)
            found[version] = ready
        return found

    def _context(self, corpora: Mapping[str, Corpus]) -> Context:
        return Context(
            {name: corpus.catalogue for name, corpus in corpora.items()},
            {name: corpus.domain for name, corpus in corpora.items()},
            self._dialogues,
        )

    def _dialogues(self, corpus: str, split: str) -> Sequence[tuple[Turn, ...]]:
        """What people said in a split of a corpus, as far as it is known. Raises UserError."""
        played = {
            name: each.corpus
            for name, each in zip(self.corpora, self.config.scenarios, strict=False)
        }
        source = {**played, **self.config.recordings}[corpus]
        if not source:
            return ()
        opened = open_corpus(source, split=split, folder=self.config.folder)
        return opened.dialogues or [scenario.history for scenario in opened.scenarios]

    def look_up(self, kind: str, name: str) -> object:
        """What a name of a model, a pack or a file stands for, in identities. Raises UserError."""
        if kind == "pack":
            return pack(name).digest
        if kind == "file":
            return content_digest(name)
        if kind == "models":
            return {alias: self.look_up("model", alias) for alias in sorted(self.config.models)}
        if name not in self.models and ":" in name:
            agent = plugins.load(name)
            self._agents[name] = agent.value
            source = {"source": agent.source}  # what an agent spends itself is not known here
            self.models[name] = Model(name=name, extra=source, price_in=0, price_out=0)
        if name not in self.models:
            if not self.models:
                raise UserError(f"it asks the model {name!r}, and `model:` is missing")
            raise UserError(
                f"there is no model {name!r}{nearest(name, self.models)}: "
                f"models are {', '.join(self.models)}"
            )
        self.used.add(name)
        return self.models[name].reply.model_dump(mode="json", exclude_defaults=True)

    def _part(self, group: str, settings: Mapping[str, Any], base: type[P]) -> tuple[P, str]:
        """A user or an evaluator, with a name, and the digest of its own source."""
        found = plugins.find(group, settings["kind"])
        if not (isinstance(found.value, type) and issubclass(found.value, base)):
            raise UserError(f"{settings['kind']}: expected a class of recjury's {base.__name__}")
        part = made(found.value, self._with_files(found.value, settings))
        name = part_name(settings)
        return part.model_copy(update={"name": name}), found.source

    def _with_files(self, kind: type[Record], settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings; a file that is not here, but beside the campaign's, is meant to be that."""
        found = dict(settings)
        for key, field in kind.model_fields.items():
            beside = Path(self.config.folder, str(settings.get(key) or ""))
            if FILE in field.metadata and key in settings and not Path(settings[key]).exists():
                found[key] = str(beside) if beside.exists() else settings[key]
        return found

    def _identity(self, record: Record) -> Mapping[str, object]:
        return identity(record, self.look_up)

    @contextmanager
    def _errors_at(self, group: str, number: int) -> Iterator[None]:
        """Add file and line to mistakes in one part's settings."""
        try:
            yield
        except Mistake as mistake:
            raise self.config.error((group, number, *mistake.keys), mistake.message) from None
        except UserError as error:
            raise self.config.error((group, number), str(error)) from None

    def _check_differs(self, group: str, number: int, name: str, same: str) -> None:
        """Raise UserError for two parts with the same settings: their trials would be the same."""
        if name != same:
            hint = " with `version`, as in `version: again`" if group == "systems" else ""
            raise self.config.error(
                (group, number), f"{name!r} has the settings of {same!r}: tell them apart{hint}"
            )

    def _taken(self, group: str, number: int, name: str) -> UserError:
        what = group.removesuffix("s")
        return self.config.error(
            (group, number), f"two {group} are called {name!r}: give this {what} another `name`"
        )
