"""A simulated user without a model: it says some forty sentences, filled from the catalogue."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple
from zlib import crc32

from recjury.corpora import Domain, Item, KnowledgeGraph, fact_of, fold
from recjury.files import shipped
from recjury.llm import Ask
from recjury.records import Scenario, Turn
from recjury.simulator import SimulatedUser, Situation

_SENTENCES = Path(__file__).with_name("sentences.yaml")
_WORDS = {"items": "items", "an_item": "an item", "done": "seen"}


class Wish(NamedTuple):
    """A value that the user wants, and the kind of value it is ("genre", "wish")."""

    relation: str
    value: str


class DemoUser(SimulatedUser):
    """Says an opening wish, one more wish a turn, refusals, a question about a hit, and thanks.

    Its wishes are those of the scenario, then what the catalogue says of the first target. It does
    not name a target that the system has not named.
    """

    RENDERING: ClassVar[int] = 5

    kind: Literal["demo"] = "demo"
    name: str = "demo"

    def lacks(self, scenario: Scenario) -> str:
        """Why the user cannot play a scenario, or nothing."""
        if scenario.targets or scenario.wishes:
            return ""
        return f"scenario {scenario.id} has neither targets nor wishes"

    async def speak(self, situation: Situation, ask: Ask) -> Turn:  # noqa: ARG002
        """The next utterance; the same one in the same situation."""
        spoken = _Speech(situation, self._words(situation.scenario))
        wishes = self._wishes(situation)
        return Turn(speaker="user", text=" ".join(spoken.sentences(wishes)))

    async def rewrite(
        self,
        situation: Situation,
        text: str,  # noqa: ARG002
        leaks: list[str],  # noqa: ARG002
        ask: Ask,  # noqa: ARG002
    ) -> Turn:
        """A sentence that tells nothing of the target."""
        spoken = _Speech(situation, self._words(situation.scenario))
        return Turn(speaker="user", text=spoken.sentence("more"))

    def _wishes(self, situation: Situation) -> Iterator[Wish]:
        """What the user wants and has not said, and does not give a target away."""
        scenario = situation.scenario
        catalogue, domain = self.catalogue(scenario), self.domain(scenario)
        known = (
            catalogue.items[each.id] for each in scenario.targets if each.id in catalogue.items
        )
        target = next(known, None)
        said = " ".join(turn.text for turn in situation.turns if turn.speaker == "user")
        facts = map(fact_of, scenario.wishes)
        wishes = (Wish(relation or "wish", value) for relation, value in facts)
        traits = _traits(target, catalogue.graph, domain) if target else ()
        for wish in chain(wishes, traits):
            is_said = f" {fold(wish.value)} " in f" {fold(said)} "
            if not is_said and wish.value not in situation.withheld:
                yield wish

    def _words(self, scenario: Scenario) -> dict[str, str]:
        domain = self.domain(scenario)
        if domain is None:
            return dict(_WORDS)
        return {word: str(getattr(domain, word)) for word in _WORDS}


class _Speech:
    """The sentences of one utterance."""

    def __init__(self, situation: Situation, words: dict[str, str]):
        self._situation, self._words = situation, words
        spoken = sum(turn.speaker == "user" for turn in situation.turns)
        self._number = crc32(situation.scenario.id.encode()) + spoken

    def sentences(self, wishes: Iterator[Wish]) -> list[str]:
        """One or two sentences for the moment."""
        found, last = self._situation.found, self._situation.last
        if found is not None:
            name = found.name if found in self._situation.may_name else "that one"
            return [self.sentence("thanks" if last else "introduce", item=name)]
        if last:
            return [self.sentence("leave")]
        wish = next(wishes, None)
        wanted = self._wish(wish) if wish else self.sentence("more")
        return [*self._before(), wanted]

    def sentence(self, moment: str, **values: str) -> str:
        """The next sentence of a moment."""
        return self._filled(shipped(_SENTENCES)[moment], values)

    def _before(self) -> list[str]:
        """What is said of the system's last turn: an opening, a refusal, or nothing."""
        if not self._situation.turns:
            return [self.sentence("open")]
        answer, shown = self._situation.turns[-1], self._situation.shown
        if answer.speaker == "user" or (not shown and "?" in answer.text):
            return []
        return [self.sentence("refuse", item=shown[0].name) if shown else self.sentence("nothing")]

    def _wish(self, wish: Wish) -> str:
        kinds = shipped(_SENTENCES)["wish"]
        return self._filled(kinds.get(wish.relation, kinds["other"]), wish._asdict())

    def _filled(self, choices: Sequence[str], values: Mapping[str, str]) -> str:
        text = choices[self._number % len(choices)].format(**self._words, **values)
        return text[0].upper() + text[1:]


def _traits(item: Item, graph: KnowledgeGraph, domain: Domain | None) -> Iterator[Wish]:
    """What the graph knows of an item: one value of each relation, then a second one of each."""
    columns: dict[str, list[Wish]] = {}
    for relation, value in graph.values_of(item.id):
        if domain is None or domain.is_asked_for(relation):
            columns.setdefault(relation, []).append(Wish(relation, value))
    first, *others = columns.values() or [[]]
    decade = [Wish("decade", f"{item.year // 10 * 10}s")] if item.year else []
    rows = zip_longest(first, decade, *others)
    return (wish for row in rows for wish in row if wish is not None)
