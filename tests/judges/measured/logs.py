"""Small logs and a small catalogue, written so that the right score can be counted by hand."""

from collections.abc import Sequence

from recjury.judges.measured import MeasuredPanel
from recjury.knowledge import Catalogue, known_domain
from recjury.records import (
    Act,
    ConversationLog,
    DeclaredAct,
    Ending,
    Factor,
    Item,
    ItemRef,
    Rating,
    Scenario,
    Speaker,
    Status,
    Turn,
)

HEAT = Item(
    id="heat",
    name="Heat (1995)",
    title="Heat",
    year=1995,
    genres=("crime", "thriller"),
    directors=("Michael Mann",),
    writers=("Michael Mann",),
    actors=("Al Pacino", "Robert De Niro", "Val Kilmer", "Jon Voight"),
    popularity=5.0,
)
INSIDER = Item(
    id="insider",
    name="The Insider (1999)",
    title="The Insider",
    year=1999,
    genres=("drama", "biography"),
    directors=("Michael Mann",),
    writers=("Eric Roth",),
    actors=("Russell Crowe", "Al Pacino", "Christopher Plummer", "Diane Venora"),
    popularity=5.0,
)
AMELIE = Item(
    id="amelie",
    name="Amelie (2001)",
    title="Amelie",
    year=2001,
    genres=("comedy", "romance"),
    directors=("Jean-Pierre Jeunet",),
    writers=("Guillaume Laurant",),
    actors=("Audrey Tautou", "Mathieu Kassovitz", "Rufus", "Yolande Moreau"),
    popularity=5.0,
)
NOTTING = Item(
    id="notting",
    name="Notting Hill (1999)",
    title="Notting Hill",
    year=1999,
    genres=("comedy", "romance", "drama"),
    directors=("Roger Michell",),
    writers=("Richard Curtis",),
    actors=("Hugh Grant", "Julia Roberts", "Rhys Ifans", "Emma Chambers"),
    popularity=5.0,
)
ALIEN = Item(
    id="alien",
    name="Alien (1979)",
    title="Alien",
    year=1979,
    genres=("horror", "sci-fi"),
    directors=("Ridley Scott",),
    writers=("Dan O'Bannon",),
    actors=("Sigourney Weaver", "Tom Skerritt", "John Hurt", "Ian Holm"),
    popularity=5.0,
)
A_BUGS = Item(id="bugs", name="A Apple a Day (2003)", title="A Apple a Day", year=2003)
FILMS = (HEAT, INSIDER, AMELIE, NOTTING, ALIEN, A_BUGS)
FILLERS = tuple(
    Item(id=f"f{n}", name=f"Zorblat {n} (1990)", title=f"Zorblat {n}", year=1990, popularity=5.0)
    for n in range(60)
)
RARE = tuple(
    Item(id=f"r{n}", name=f"Quiblex {n} (1990)", title=f"Quiblex {n}", year=1990, popularity=0.0)
    for n in range(30)
)
CATALOGUE = Catalogue("test", (*FILMS, *FILLERS, *RARE))
PANEL = MeasuredPanel(CATALOGUE)
BLIND = MeasuredPanel(Catalogue("none", ()))


def phone(id_: str, title: str, brand: str, price: str, plot: str = "") -> Item:
    """A phone of a shop."""
    values = (("types", ("phone",)), ("brands", (brand,)), ("price", (price,)))
    return Item(id=id_, name=title, title=title, attributes=values, plot=plot, popularity=5.0)


NOVA = phone("nova", "Nova Twelve", "Acme", "cheap", "A phone with a long battery life.")
ORBIT = phone("orbit", "Orbit Max", "Zenith", "expensive")
PIXIE = phone("pixie", "Pixie Mini", "Acme", "cheap")
SHOP = MeasuredPanel(
    Catalogue("shop", (NOVA, ORBIT, PIXIE, *FILLERS), domain=known_domain("product"))
)
UNKNOWN = ItemRef(id=None, name="Nobody Has This")


def log(
    *texts: str | None,
    items: Sequence[Item | ItemRef] = (),
    targets: Sequence[Item | ItemRef] = (),
    list_length: int = 100,
) -> ConversationLog:
    """A log of alternating turns, the user first and without declared acts."""
    turns = [
        text if place % 2 else Turn(speaker=Speaker.USER, text=text or "")
        for place, text in enumerate(texts)
    ]
    told = talk(*turns, items=items, targets=targets)
    return told.model_copy(update={"list_length": list_length})


def replies(*texts: str) -> ConversationLog:
    """A log in which the system says `texts`, and the user chats."""
    return talk(*(line for text in texts for line in (says("Hello there", "chat"), text)))


def says(text: str, *acts: str) -> Turn:
    """A user's turn that declares acts: "thank", "refuse heat", "wish genre=comedy", "ask heat
    year="; what has no "=" is an item."""
    return Turn(speaker=Speaker.USER, text=text, acts=tuple(_act(act) for act in acts))


def _act(words: str) -> DeclaredAct:
    kind, _, about = words.partition(" ")
    before, equals, value = about.partition("=")
    *item, attribute = before.split(" ") if equals else (*before.split(), "")
    return DeclaredAct(
        act=Act(kind), item=item[0] if item else None, attribute=attribute, value=value
    )


def talk(
    *turns: Turn | str | None,
    items: Sequence[Item | ItemRef] = (),
    targets: Sequence[Item | ItemRef] = (),
    history: Sequence[Turn] = (),
) -> ConversationLog:
    """A log of a user's turns, and of the system's: texts, or None for one that failed.

    The list stands at the system's first turn.
    """
    interaction: list[Turn] = []
    refs = tuple(_ref(item) for item in items)
    for turn in turns:
        if isinstance(turn, Turn):
            interaction.append(turn)
            continue
        failure = "timed out" if turn is None else None
        interaction.append(
            Turn(speaker=Speaker.SYSTEM, text=turn or "", items=refs, failure=failure)
        )
        refs = ()
    scenario = Scenario(
        corpus="test",
        record="1",
        history=tuple(history),
        targets=tuple(_ref(target) for target in targets),
    )
    return ConversationLog(
        system="s", scenario=scenario, interaction=tuple(interaction), ending=Ending.RECORDED
    )


def rating(factor: Factor, conversation: ConversationLog, panel: MeasuredPanel = PANEL) -> Rating:
    """The panel's rating of one factor."""
    found = {r.factor: r for r in panel.measure(conversation)}
    return found[factor]


def score(
    factor: Factor, conversation: ConversationLog, panel: MeasuredPanel = PANEL
) -> float | None:
    """The panel's score of one factor; a scored rating must say what was counted."""
    found = rating(factor, conversation, panel)
    assert bool(found.rationale) == (found.status is Status.SCORED)
    assert bool(found.reason) != (found.status is Status.SCORED)
    return found.score


def _ref(item: Item | ItemRef) -> ItemRef:
    return item.ref if isinstance(item, Item) else item
