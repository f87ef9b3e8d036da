"""Small logs and a small catalogue, written so that the right score can be counted by hand."""

from collections.abc import Sequence

from recjury.judges.measured import MeasuredPanel
from recjury.knowledge import Catalogue
from recjury.records import (
    ConversationLog,
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
UNKNOWN = ItemRef(id=None, name="Nobody Has This")


def log(
    *texts: str | None,
    items: Sequence[Item | ItemRef] = (),
    targets: Sequence[Item | ItemRef] = (),
    history: Sequence[Turn] = (),
    list_length: int = 100,
    system_opens: bool = False,
) -> ConversationLog:
    """A log of alternating turns, the user first; None is a failed system turn.

    The whole list stands at the first system turn.
    """
    turns: list[Turn] = []
    refs = tuple(_ref(item) for item in items)
    for place, text in enumerate(texts):
        system = (place % 2 == 0) == system_opens
        turns.append(
            Turn(
                speaker=Speaker.SYSTEM if system else Speaker.USER,
                text=text or "",
                items=refs if system else (),
                failure=None if text is not None else "timed out",
            )
        )
        refs = () if system else refs
    return ConversationLog(
        system="s",
        scenario=Scenario(
            corpus="test",
            record="1",
            history=tuple(history),
            targets=tuple(_ref(target) for target in targets),
        ),
        interaction=tuple(turns),
        ending=Ending.RECORDED,
        list_length=list_length,
    )


def replies(*texts: str, user: str = "Hello there") -> ConversationLog:
    """A log in which the system says `texts`, and the user something that asks for nothing."""
    asked = [f"{user} {'so ' * n}" for n in range(len(texts))]
    return log(*(text for pair in zip(asked, texts, strict=True) for text in pair))


def rating(factor: Factor, conversation: ConversationLog, panel: MeasuredPanel = PANEL) -> Rating:
    """The panel's rating of one factor."""
    found = {r.factor: r for r in panel.measure(conversation)}
    return found[factor]


def score(factor: Factor, conversation: ConversationLog) -> float | None:
    """The panel's score of one factor; a scored rating must list what was counted."""
    found = rating(factor, conversation)
    assert bool(found.rationale) == (found.status is Status.SCORED)
    assert bool(found.reason) != (found.status is Status.SCORED)
    return found.score


def _ref(item: Item | ItemRef) -> ItemRef:
    return item.ref if isinstance(item, Item) else item
