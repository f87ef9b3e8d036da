"""What the prompts of judges and debaters show, and in which order."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchmarks import shared_prefix
from recjury.corpora import open_corpus
from recjury.debate import DebatePrompts
from recjury.judges import EvaluatorContext, Rubric
from recjury.judges.core.evaluator import CoreEvaluator
from recjury.judges.guideline import JudgePrompts
from recjury.knowledge import Catalogue, CatalogueFacts, known_domain
from recjury.llm import EndpointSpec, Gateway
from recjury.prompts import load_pack
from recjury.records import Factor, Item, ItemRef, Role, Statement
from tests.judges.cases import HEAT, RONIN, a_log, ratings_of

CATALOGUE = Catalogue(
    "films",
    [
        Item(
            id=str(ref.id),
            name=ref.name,
            title=ref.name[:-7],
            year=1995,
            genres=("crime", "drama"),
            directors=("Michael Mann",),
            actors=("Al Pacino", "Robert De Niro", "Val Kilmer", "Jon Voight"),
            popularity=87,
        )
        for ref in (HEAT, RONIN)
    ],
)
FACTS = CatalogueFacts(CATALOGUE)
KNOWN = "1995; crime, drama; directed by Michael Mann; with Al Pacino, Robert De Niro, Val Kilmer"
LOG = a_log("Try Ronin.", items=(RONIN, HEAT))


def _judged(factor: Factor, pack: str = "core-judges", language: str = "") -> str:
    prompts = JudgePrompts(load_pack(pack), facts=FACTS, language=language)
    return Rubric(prompts).messages(factor, LOG)[1].text


def test_lists_have_what_the_catalogue_knows_and_not_how_often_it_is_mentioned() -> None:
    shown = _judged(Factor.NOVELTY)
    assert f"2. {HEAT.name} <facts>{KNOWN}</facts>\n" in shown
    assert "87" not in shown
    assert FACTS(ItemRef(id="none", name="Nothing")) == FACTS(ItemRef(id=None, name="Heat")) == ""


def test_a_book_has_its_writers() -> None:
    book = Item(id="b", name="Emma", title="Emma", writers=("Jane Austen",))
    assert CatalogueFacts(Catalogue("books", [book]))(book.ref) == "by Jane Austen"


def test_who_sees_the_target_is_told_where_it_stands_in_the_list() -> None:
    told = "It stands in the list above, at: 2."
    seeing = {factor for factor in Factor if told in _judged(factor)}
    assert seeing == {Factor.EFFECTIVENESS}
    debate = DebatePrompts(facts=FACTS)
    shown = {role: debate.turn(role, 1, LOG, ratings_of(), ()).text for role in Role}
    assert {role for role in Role if told in shown[role]} == {Role.COMMON_USER}
    elsewhere = a_log("Try Ronin.", items=(RONIN,))
    prompts = Rubric(JudgePrompts(facts=FACTS)).messages(Factor.EFFECTIVENESS, elsewhere)
    assert "It does not stand in the list above." in prompts[1].text


def test_a_catalogue_that_knows_nothing_is_not_spoken_of() -> None:
    shown = Rubric().messages(Factor.NOVELTY, LOG)[1].text
    assert "<facts>" not in shown


@pytest.mark.parametrize("language", ["", "German"])
def test_a_language_is_asked_for(language: str) -> None:
    expected = f"in {language}" if language else "in the language of the conversation"
    assert expected in _judged(Factor.COHERENCE, language=language)
    debate = DebatePrompts(language=language)
    asked = debate.turn(Role.LINGUIST, 1, LOG, ratings_of(), ())
    assert f"{expected}, in at most 150 words" in asked.text
    assert debate.identity.endswith(" in German") == bool(language)
    assert DebatePrompts.installed(debate.identity).identity == debate.identity


def test_a_statement_is_cut_where_others_read_it() -> None:
    said = [
        Statement(role=role, round=1, speaker="m", text="so " * words, score=50)
        for role, words in zip(Role, (10, 150, 151, 5000), strict=True)
    ]
    shown = DebatePrompts().turn(Role.LINGUIST, 2, LOG, ratings_of(), said).text
    assert shown.count("[...]") == 2
    assert len(shown) < 12_000


def test_the_conversation_comes_first_and_the_form_last() -> None:
    shown = _judged(Factor.NOVELTY)
    places = [shown.index(mark) for mark in ("<conversation>", "<facts>", "<guideline>", "<rating")]
    assert places == sorted(places)
    assert shown.rstrip().endswith("</rating>")
    published = _judged(Factor.NOVELTY, "core-paper-judges")
    assert published.index("<guideline>") < published.index("<conversation>")
    assert "<facts>" not in published
    assert "It stands" not in _judged(Factor.EFFECTIVENESS, "core-paper-judges")


SEEN = {"list": "1. Ronin (1998)", "target": "<target>"}


@pytest.mark.parametrize("lists", ["all", "named"])
@pytest.mark.parametrize("pack", ["core", "core-paper"])
def test_who_sees_the_list_and_who_the_target(pack: str, lists: Any) -> None:
    rubric = Rubric(JudgePrompts(load_pack(f"{pack}-judges").with_lists(lists)))
    judged = {factor: rubric.messages(factor, LOG)[1].text for factor in Factor}
    debate = DebatePrompts(load_pack(f"{pack}-debate").with_lists(lists))
    told = {role: debate.turn(role, 1, LOG, ratings_of(), ()).text for role in Role}
    shown = {name for name, text in (judged | told).items() if SEEN["list"] in text}
    named = {name for name, guide in rubric.guides.items() if "list" in guide.inputs}
    expected = {*named, *(role for role in Role if role is not Role.LINGUIST)}
    assert shown == ({*Factor, *Role} if lists == "all" else expected)
    wanted = {name for name, text in (judged | told).items() if SEEN["target"] in text}
    assert wanted == {Factor.EFFECTIVENESS, Role.COMMON_USER}
    without = a_log("Well.", items=())
    assert not rubric.lacks(Factor.COHERENCE, without), "shown where it is, and not needed"
    assert DebatePrompts.installed(debate.identity).identity == debate.identity


def test_the_papers_packs_show_the_list_to_all() -> None:
    assert {name: load_pack(f"{name}-judges").lists for name in ("core", "core-paper")} == {
        "core": "named",
        "core-paper": "all",
    }
    ours, _ = _settings(lists="named")
    assert ours == _settings()[0]
    changed, _ = _settings(prompts="core-paper", lists="named", language="French")
    assert changed["rubric"].endswith(" lists named in French")
    assert " lists named in French; rules" in changed["debate"]["protocol"]


@pytest.mark.slow
def test_prompts_share_their_beginnings(data_folder: Path) -> None:
    shares = shared_prefix.measure(data_folder, logs=16)
    for name, target in shared_prefix.TARGETS.items():
        assert shares[name] >= target, name


def _settings(**keys: Any) -> Any:
    async def built() -> Any:
        models = {"main": EndpointSpec(base_url="http://127.0.0.1:9/v1", name="m")}
        async with Gateway(models, recorder=None) as gateway:  # type: ignore[arg-type]
            context = EvaluatorContext(open_corpus("sample"), gateway, models)
            evaluator = CoreEvaluator(**keys).with_models(available=True).prepared(context)
            return evaluator.settings, evaluator.data

    return asyncio.run(built())


def test_the_prompts_and_the_catalogue_are_part_of_what_identifies_a_rating() -> None:
    ours, data = _settings()
    assert data == {"catalogue": open_corpus("sample").catalogue.digest}
    assert ours["rubric"].startswith("core-judges/")
    assert ours["debate"]["protocol"].startswith("core-debate/")
    published, nothing = _settings(prompts="core-paper")
    assert nothing == {}
    assert published["rubric"].startswith("core-paper-judges/")
    assert published["debate"]["protocol"].startswith("core-paper-debate/")
    assert _settings(language="French")[0]["rubric"].endswith(" in French")


@pytest.mark.parametrize("language", ["<b>", "English\nand more", "a b c d e", "1"])
def test_what_is_no_language_is_refused(language: str) -> None:
    with pytest.raises(ValidationError, match="language"):
        CoreEvaluator(language=language)


def test_the_guideline_of_diversity_names_the_dimensions_of_an_unusual_domain() -> None:
    def shown(name: str) -> str:
        corpus = open_corpus("sample")
        catalogue = Catalogue("items", CATALOGUE, domain=known_domain(name))
        corpus.__dict__["catalogue"] = catalogue
        rubric = Rubric(JudgePrompts(), EvaluatorContext(corpus=corpus).domain)
        assert rubric.messages(Factor.NOVELTY, LOG) == Rubric().messages(Factor.NOVELTY, LOG)
        return rubric.messages(Factor.DIVERSITY, LOG)[1].text

    plain = Rubric().messages(Factor.DIVERSITY, LOG)[1].text
    assert shown("film") == shown("book") == plain
    assert (
        "Here the items are songs: their dimensions are genres, artists, decades, languages."
    ) in shown("song")


def test_the_domain_is_part_of_the_data_of_an_evaluator() -> None:
    def data(name: str) -> list[str]:
        corpus = open_corpus("sample")
        corpus.__dict__["catalogue"] = Catalogue("x", CATALOGUE, domain=known_domain(name))
        return sorted(CoreEvaluator(kind="core").prepared(EvaluatorContext(corpus=corpus)).data)

    assert data("film") == data("book") == ["catalogue"]
    assert data("song") == ["catalogue", "domain"]
