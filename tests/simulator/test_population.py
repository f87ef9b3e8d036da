"""Who speaks: drawn by seed, the same for all systems, and independent of its other parts."""

from pathlib import Path
from typing import Any

import pytest

from recjury.corpora import Corpus, open_corpus
from recjury.errors import ConfigError
from recjury.records import (
    PLAIN,
    Attribute,
    Behaviour,
    Condition,
    Person,
    PersonaTraits,
    Scenario,
    UserSettings,
)
from recjury.simulator import LeakGuard, Population, check_users
from recjury.simulator.population import load_personas
from tests.simulator.doubles import catalogue, film, scenario

ROUNDS = 5


@pytest.fixture(scope="module")
def sample() -> Corpus:
    return open_corpus("sample", None)


@pytest.fixture(scope="module")
def scenarios(sample: Corpus) -> tuple[Scenario, ...]:
    return tuple(sample.scenarios(limit=40).scenarios)


def people(
    sample: Corpus, scenarios: tuple[Scenario, ...], seed: int = 0, **settings: object
) -> list[Person]:
    given = UserSettings.model_validate(settings)
    population = Population(sample.catalogue, given, seed=seed)
    return [population.person(each, ROUNDS) for each in scenarios]


def test_by_default_everyone_is_the_plain_user(
    sample: Corpus, scenarios: tuple[Scenario, ...]
) -> None:
    assert set(people(sample, scenarios)) == {PLAIN}
    assert Population(sample.catalogue).identity == {}
    assert UserSettings(behaviours={"off_topic": 0.0}).is_plain
    assert not UserSettings(behaviours={"off_topic": 0.1}).is_plain


def test_wishes_are_two_or_three_values_that_others_share(
    sample: Corpus, scenarios: tuple[Scenario, ...]
) -> None:
    found = people(sample, scenarios, knows="wishes")
    index, shared = sample.catalogue.attributes, 0
    for person, talked in zip(found, scenarios, strict=True):
        assert person.knows == "wishes"
        assert len(person.wishes) in (2, 3)
        assert len({wish.kind for wish in person.wishes}) == len(person.wishes)
        barred = LeakGuard(sample.catalogue).watch(talked.targets).barred()
        assert barred.isdisjoint(person.wishes)
        targets = [target.id for target in talked.targets]
        assert any(id_ is not None and index.has_all(id_, person.wishes) for id_ in targets)
        having = set.intersection(*(set(index.items_with(wish)) for wish in person.wishes))
        shared += len(having) > 1
    assert {len(person.wishes) for person in found} == {2, 3}
    assert shared >= 0.9 * len(scenarios)


def test_a_target_without_values_to_share_gives_no_wishes() -> None:
    lone = film("Lone", directors=("Cy Marsh",))
    population = Population(catalogue(lone, "Other"), UserSettings(knows="wishes"))
    assert population.person(scenario([lone.ref]), ROUNDS).wishes == ()


def test_who_wrote_and_directed_it_is_one_wish() -> None:
    films = [film(f"{n}", directors=("Cy Marsh",), writers=("Cy Marsh",)) for n in "AB"]
    population = Population(catalogue(*films), UserSettings(knows="wishes"))
    (wish,) = population.person(scenario([films[0].ref]), ROUNDS).wishes
    assert wish.value == "Cy Marsh"


def test_a_person_is_described_on_one_line() -> None:
    assert PLAIN.described == ""
    person = Person(
        knows="wishes",
        wishes=(Attribute("genre", "drama"), Attribute("decade", "1990s")),
        persona="night_owl",
        behaviours=(None, "off_topic"),
        condition=Condition(name="priming", attribute=Attribute("genre", "war")),
    )
    assert person.described == (
        "wishes: genre drama, decade 1990s; persona: night_owl; "
        "behaviours: off_topic in round 2; condition: priming (genre war)"
    )
    assert Person(knows="wishes").described == "wishes: none"


def test_a_persona_is_named_or_drawn(sample: Corpus, scenarios: tuple[Scenario, ...]) -> None:
    named = people(sample, scenarios, persona="night_owl")
    assert {person.persona for person in named} == {"night_owl"}
    assert named[0].traits.patience == "high"
    assert "two in the morning" in named[0].about
    drawn = people(sample, scenarios, persona="drawn")
    assert len({person.persona for person in drawn}) > 10


def test_draws_depend_on_seed_and_scenario_alone(
    sample: Corpus, scenarios: tuple[Scenario, ...]
) -> None:
    settings: dict[str, Any] = {
        "knows": "wishes",
        "persona": "drawn",
        "behaviours": {"off_topic": 0.3},
        "condition": "decoy",
    }
    first = people(sample, scenarios, **settings)
    assert people(sample, scenarios[::-1], **settings) == first[::-1]
    assert people(sample, scenarios, seed=1, **settings) != first
    without = people(sample, scenarios, **{**settings, "condition": None})
    assert [p.model_copy(update={"condition": None}) for p in first] == without
    more = {**settings, "behaviours": {"off_topic": 0.3, "change_of_mind": 0.2}}
    for one, other in zip(first, people(sample, scenarios, **more), strict=True):
        assert (one.persona, one.wishes, one.condition) == (
            other.persona,
            other.wishes,
            other.condition,
        )


def test_behaviours_occur_at_their_rate(sample: Corpus, scenarios: tuple[Scenario, ...]) -> None:
    def shares(**behaviours: float) -> dict[Behaviour | None, float]:
        talks = [scenario([], record=f"{n}") for n in range(400)]
        found = people(sample, tuple(talks), behaviours=behaviours)
        answers = [person.behaviour_in(n) for person in found for n in range(1, ROUNDS + 1)]
        return {each: answers.count(each) / len(answers) for each in set(answers)}

    assert shares(contradiction=1.0) == {"contradiction": 1.0}
    found = shares(change_of_mind=0.25, giving_up=0.1)
    assert found["giving_up"] == pytest.approx(0.1, abs=0.03)
    assert found["change_of_mind"] == pytest.approx(0.25 * 0.9, abs=0.04)
    assert people(sample, scenarios, behaviours={"off_topic": 0.0}) == [PLAIN] * len(scenarios)


def test_conditions_are_about_something_that_is_no_target(
    sample: Corpus, scenarios: tuple[Scenario, ...]
) -> None:
    index = sample.catalogue.attributes
    for name in ("reference_dependence", "decoy", "priming"):
        for person, talked in zip(
            people(sample, scenarios, condition=name), scenarios, strict=True
        ):
            condition, targets = person.condition, {target.id for target in talked.targets}
            assert condition is not None
            assert condition.name == name
            if name == "priming":
                assert condition.attribute is not None
                assert targets.isdisjoint(index.items_with(condition.attribute))
            else:
                assert condition.item is not None
                assert condition.item.id not in targets


def test_the_shipped_pack_differs_in_every_trait() -> None:
    pack = load_personas()
    assert len(pack.personas) >= 24
    for trait in PersonaTraits.model_fields:
        degrees = {getattr(each.traits, trait) for each in pack.personas.values()}
        assert degrees == {"low", "medium", "high"}
    assert len({each.about for each in pack.personas.values()}) == len(pack.personas)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "id: x\nversion: '1'\npersonas: {a: {traits: {patiense: low}}}",
            "did you mean 'patience'",
        ),
        ("id: x\nversion: '1'\npersonas: {a: {traits: {mood: awful}}}", "personas.a.traits.mood"),
        ("id: x\nversion: '1'\npersonas: {a: {looks: tall}}", "unknown key `personas.a.looks`"),
        ("id: x\nversion: '1'\npersonas: {}", "`personas`"),
        ("id: [", "is not YAML"),
        ("- a", "the file"),
    ],
)
def test_a_pack_with_a_mistake_is_refused_in_one_line(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "personas.yaml"
    path.write_text(content, "utf-8")
    with pytest.raises(ConfigError) as refused:
        check_users(UserSettings(personas=str(path)))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_own_pack_is_part_of_the_identity(tmp_path: Path) -> None:
    known, identities = catalogue("A"), []
    for about in ("One.", "Two."):
        path = tmp_path / f"{about}yaml"
        path.write_text(f"id: x\nversion: '1'\npersonas: {{meek: {{about: {about}}}}}", "utf-8")
        settings = UserSettings(persona="meek", personas=str(path))
        assert Population(known, settings).person(scenario([]), ROUNDS).about == about
        identities.append(dict(Population(known, settings).identity))
    assert identities[0] != identities[1]
    with pytest.raises(ConfigError, match="did you mean 'meek'"):
        check_users(UserSettings(persona="mek", personas=str(path)))
    with pytest.raises(ConfigError, match="cannot be read"):
        check_users(UserSettings(personas=str(tmp_path / "none")))
