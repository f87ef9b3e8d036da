"""A small catalogue, and moments of a conversation at which the rule user speaks."""

import asyncio

from recjury.knowledge import Catalogue
from recjury.records import Act, Attribute, Item, ItemRef, Person, Turn, UserContext, Utterance
from recjury.simulator import RuleUser
from tests.simulator.doubles import catalogue, film, scenario, user_turn

TARGET = film(
    "The Quiet Harbor (1994)",
    genres=("drama", "crime", "mystery"),
    actors=("Ann Reed", "Bo Lund"),
    directors=("Cy Marsh",),
    writers=("Di Falk",),
)
NEAR = film("Low Tide (1996)", genres=("drama", "crime"), actors=("Ann Reed",))
FAR = film("Laugh Track (1958)", genres=("comedy",), actors=("Ed Pike",), directors=("Flo Ross",))
# So that nothing but the title belongs to the target alone.
TWIN = film("Spring Flood (1993)", **TARGET.model_dump(include={"genres", "actors", "directors"}))
MANY = tuple(
    film(f"{genre.capitalize()} of Many Kinds {place} ({1960 + place})", genres=(genre,))
    for genre in ("drama", "crime", "mystery", "comedy")
    for place in range(12)
)
KNOWN = catalogue(TARGET, NEAR, FAR, TWIN, *MANY)
USER = RuleUser(KNOWN)


def moment(
    *interaction: Turn,
    targets: tuple[Item, ...] = (TARGET,),
    history: tuple[Turn, ...] = (),
    hit: ItemRef | None = None,
    introduce: bool = False,
    shows_list: bool = True,
    last: bool = False,
    person: Person | None = None,
    barred: frozenset[Attribute] = frozenset(),
) -> UserContext:
    return UserContext(
        scenario=scenario([one.ref for one in targets], history=history),
        interaction=interaction,
        hit=hit,
        introduce=introduce,
        system_named_hit=hit is not None,
        shows_list=shows_list,
        last=last,
        person=person or Person(),
        barred=barred,
    )


def spoken(context: UserContext, user: RuleUser = USER) -> Utterance:
    return asyncio.run(user.speak(context))


def each_seed(context: UserContext, known: Catalogue = KNOWN, seeds: int = 25) -> list[Utterance]:
    """What users with different seeds say at this moment."""
    return [spoken(context, RuleUser(known, seed=seed)) for seed in range(seeds)]


def turn_of(utterance: Utterance) -> Turn:
    """The turn that the session makes of an utterance."""
    return user_turn(utterance.text).model_copy(update={"acts": utterance.acts})


def does(utterance: Utterance, *acts: Act) -> bool:
    """Whether the utterance declares any of these acts."""
    return any(each.act in acts for each in utterance.acts)


def values(utterance: Utterance, act: Act = Act.WISH) -> set[Attribute]:
    """The attributes that it declares to wish for, or to refuse."""
    return {each.wish for each in utterance.acts if each.act is act and each.wish}
