"""A corpus: a domain, a catalogue and scenarios, and the parts of campaigns that know of them."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import Field, PrivateAttr, field_validator

from recjury.corpora.catalogue import Catalogue
from recjury.errors import UserError
from recjury.files import YamlFile, nearest, shipped
from recjury.mistakes import Mistake, made
from recjury.records import ItemRef, Record, Scenario, Turn, digest

DOMAINS = ("film", "book", "film-or-book", "song", "sport", "restaurant", "product")
"""The domains that ship."""


class Expert(Record):
    """CoRE's Domain Expert for one kind of item (appendix D)."""

    who: str
    expertise: tuple[str, ...] = Field(min_length=1)


class Domain(Record):
    """What the items are: a "film", many "films", to "watch", if one has "seen" them.

    `attributes` are what people say of an item that they want ("genre", "director"), each with the
    clause of a reason: "{value} directed it". If they are `listed` in a domain of one's own, people
    ask for nothing else. `dimensions` are those of Diversity (appendix A). Without an `expert`, the
    debate's pack has its own. `encoding` is that of the file of items.
    """

    item: str = Field(min_length=1)
    items: str = Field(min_length=1)
    verb: str = "try"
    done: str = "tried"
    attributes: dict[str, str] = Field(default_factory=dict)
    listed: bool = False
    dimensions: tuple[str, ...] = ()
    expert: Expert | None = None
    encoding: str = Field(default="utf-8", exclude=True)

    @field_validator("attributes", mode="before")
    @classmethod
    def _with_clauses(cls, values: Any) -> Any:
        """A list of names has plain clauses."""
        return dict.fromkeys(values, "") if isinstance(values, list | tuple) else values

    @field_validator("attributes")
    @classmethod
    def _clauses_name_the_value(cls, attributes: dict[str, str]) -> dict[str, str]:
        for name, clause in attributes.items():
            if clause and "{value}" not in clause:
                raise ValueError(f"the clause of {name!r} has no {{value}}: {clause!r}")
        return attributes

    @property
    def an_item(self) -> str:
        """The item with its article: "a film"."""
        return with_article(self.item)

    def is_asked_for(self, relation: str) -> bool:
        """Whether people ask for such a value."""
        return not self.listed or relation in self.attributes

    def says(self, relation: str, value: str) -> str:
        """A clause that says of an item that it has a value: "Michael Mann directed it"."""
        clause = self.attributes.get(relation) or f"its {relation} is {{value}}"
        return clause.replace("{value}", value)


def with_article(word: str) -> str:
    """The word after "a" or "an", by its first letter."""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


class Corpus(NamedTuple):
    """Scenarios over a catalogue. `skipped` are records that gave none, each with the reason.

    `dialogues` are the recorded ones in full, where a corpus has them.
    """

    name: str
    domain: Domain
    catalogue: Catalogue
    scenarios: tuple[Scenario, ...]
    skipped: tuple[str, ...] = ()
    dialogues: tuple[tuple[Turn, ...], ...] = ()

    @property
    def digest(self) -> str:
        """The identity of what systems and evaluators see of the corpus besides its scenarios."""
        return digest(self.catalogue.digest, self.domain)


def _no_dialogues(corpus: str, split: str) -> Sequence[tuple[Turn, ...]]:  # noqa: ARG001
    return ()


@dataclass(frozen=True)
class Context:
    """What a part may use besides a conversation: catalogues and domains by the names of corpora.

    `dialogues` gives what people said in a split ("valid") of one of these corpora.
    """

    catalogues: Mapping[str, Catalogue] = field(default_factory=dict)
    domains: Mapping[str, Domain] = field(default_factory=dict)
    dialogues: Callable[[str, str], Sequence[tuple[Turn, ...]]] = _no_dialogues


class Part(Record):
    """What evaluators and users are: their fields are keys in a file, and their identity."""

    RENDERING: ClassVar[int] = 1
    """Another number if the same fields and packs lead to other words or prompts."""

    kind: str
    name: str = ""
    _context: Context = PrivateAttr(default_factory=Context)

    @property
    def context(self) -> Context:
        """What was given to `prepared`."""
        return self._context

    def prepared(self, context: Context) -> Self:
        """The part with what it may know of items. Raises UserError."""
        ready = self.model_copy()
        ready._context = context
        return ready

    def catalogue(self, scenario: Scenario) -> Catalogue:
        """The catalogue of the scenario's items, or an empty one."""
        return self._context.catalogues.get(scenario.corpus) or Catalogue()

    def domain(self, scenario: Scenario) -> Domain | None:
        """What the scenario's items are, if that is known."""
        return self._context.domains.get(scenario.corpus)


def first_new(turns: Sequence[Turn]) -> tuple[int, tuple[ItemRef, ...]] | None:
    """The first system turn that recommends what nobody has named yet, and these items.

    The turns before it are a scenario's history, the items its targets. None if there is no such
    turn, or if it is the first one.
    """
    seen: set[str] = set()
    for number, turn in enumerate(turns):
        new = tuple(item for item in turn.items if item.id not in seen)
        if turn.speaker == "system" and new and number:
            return number, new
        seen.update(item.id for item in turn.items)
    return None


def parted(found: Iterable[Scenario | str]) -> tuple[tuple[Scenario, ...], tuple[str, ...]]:
    """Scenarios, and the reasons why other records gave none."""
    every = list(found)
    scenarios = tuple(each for each in every if isinstance(each, Scenario))
    return scenarios, tuple(each for each in every if isinstance(each, str))


@functools.cache
def known_domain(name: str) -> Domain:
    """The domain that ships under that name. Raises UserError."""
    if name not in DOMAINS:
        raise UserError(
            f"there is no domain {name!r}{nearest(name, DOMAINS)}: domains are "
            f"{', '.join(DOMAINS)}; one of your own has `item`, `items`, `verb` and `done`"
        )
    return Domain.model_validate(shipped(Path(__file__).parent / "domains" / f"{name}.yaml"))


def read_domain(path: Path) -> Domain:
    """The domain of a YAML file; with `domain: film`, the one that ships, with other words.

    Raises UserError.
    """
    file = YamlFile(path)
    if not isinstance(file.values, Mapping):
        raise file.error((), "a mapping is wanted, such as `domain: film`")
    values = {"listed": "attributes" in file.values} | dict(file.values)
    try:
        if name := values.pop("domain", ""):
            values = known_domain(str(name)).model_dump() | values
        return made(Domain, values)
    except Mistake as mistake:
        raise file.error(mistake.keys, mistake.message) from None
    except UserError as error:
        raise file.error(("domain",), str(error)) from None
