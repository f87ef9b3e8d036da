"""Own items and scenarios, here of songs: `scenarios: [{corpus: "own_corpus:Songs"}]`."""

from recjury.corpora import ScenarioSet
from recjury.knowledge import Catalogue, KnowledgeGraph, known_domain
from recjury.records import Item, Scenario, Speaker, Turn

SONGS = {"Jolene": "country", "So What": "jazz", "Blue Train": "jazz", "Clair de lune": "classical"}


class Songs:
    """A scenario for each song: a person asks for its genre."""

    name, splits = "own_corpus:Songs", ("test",)

    def __init__(self, data):
        self._items = [Item(id=t, name=t, title=t, genres=(genre,)) for t, genre in SONGS.items()]
        self.catalogue = Catalogue(self.name, self._items, domain=known_domain("song"))
        ids = dict(enumerate(SONGS))
        self.graph = KnowledgeGraph(
            entities=list(SONGS), relations=[], triples=[], item_ids=ids, item_entities=list(ids)
        )

    def scenarios(self, split="test", limit=None, seed=0):
        return ScenarioSet(tuple(self._scenario(item, split) for item in self._items[:limit]))

    def _scenario(self, item, split):
        asked = Turn(speaker=Speaker.USER, text=f"Any {item.genres[0]}?")
        place = f"{self.name}/{split}"
        return Scenario(corpus=place, record=item.id, history=(asked,), targets=(item.ref,))
