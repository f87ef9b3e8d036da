"""The sample, and what a catalogue knows."""

import pytest

from recjury.corpora import Catalogue, Item, open_corpus
from recjury.errors import UserError
from recjury.records import ItemRef

RAN = Item(id="r", name="Ran", year=1985, attributes={"genre": ("drama",), "actor": ("Nakadai",)})
KES = Item(id="k", name="Kes", attributes={"genre": ("drama",), "actor": ()})
CATALOGUE = Catalogue([RAN, KES])


@pytest.mark.parametrize("name", ["sample", "sample-books"])
def test_scenarios_end_before_a_system_turn_that_recommends_something_new(name: str) -> None:
    corpus = open_corpus(name)
    assert len(corpus.scenarios) > 10
    for scenario in corpus.scenarios:
        assert scenario.targets
        assert scenario.history[-1].speaker == "user"
        seen = {item.id for turn in scenario.history for item in turn.items}
        assert not seen & {target.id for target in scenario.targets}
        assert all(target.id in corpus.catalogue.items for target in scenario.targets)
    assert len({scenario.id for scenario in corpus.scenarios}) == len(corpus.scenarios)


def test_a_corpus_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"sampel.*did you mean sample"):
        open_corpus("sampel")


def test_the_digest_is_of_items_and_words() -> None:
    corpus = open_corpus("sample")
    films = corpus.domain.model_copy(update={"item": "movie"})
    fewer = Catalogue(list(corpus.catalogue)[1:])
    others = [corpus._replace(domain=films), corpus._replace(catalogue=fewer)]
    assert len({each.digest for each in (corpus, *others)}) == 3
    assert corpus._replace(scenarios=()).digest == corpus.digest


def test_what_is_known_of_an_item() -> None:
    assert CATALOGUE.facts(RAN.ref) == "1985; genre: drama; actor: Nakadai"
    assert CATALOGUE.facts(KES.ref) == "genre: drama"
    assert CATALOGUE.facts(ItemRef(id="?", name="?")) == ""
    assert RAN.ref.name == "Ran (1985)"
    assert KES.ref.name == "Kes"


def test_values_that_only_one_item_has() -> None:
    assert CATALOGUE.own_values(RAN.ref) == {"Nakadai"}
    assert CATALOGUE.own_values(ItemRef(id="?", name="?")) == frozenset()
