"""What the leak guard takes for a leak, what it lets pass, and how it cuts."""

import pytest

from recjury.records import ItemRef
from recjury.simulator import LeakChecker, LeakGuard
from tests.growth import grows_linearly
from tests.simulator.doubles import catalogue, film

LEAKS = {
    "The Matrix (1999)": (
        "I love the matrix",
        "Matrix, The",
        "m a t r i x",
        "M-A-T-R-I-X",
        "m.a.t.r.i.x",
        "#TheMatrix",
        "#thematrixmovie",
        "TheMatrixmovie",
        "M4tr1x",
        "m@trix",
        "Мatriх please",
        "Ma\u200btrix",
        "Ma\u00adtrix",
        "mätrix",
        "maatrix",
        "the matirx",
        "the matrx",
        "**The Matrix**",
        "ma.trix",
        "ＭＡＴＲＩＸ",
        "𝕸𝖆𝖙𝖗𝖎𝖝",
        "the Matrix's hero",
        "THE MATRIX",
        "M*trix",
        "xirtam",
        "The%20M%61trix",
        "M&#97;trix",
    ),
    "The Dark Knight (2008)": ("dark%20knight", "dark&nbsp;knight", "Dark_Knight", "tark knight"),
    "Eternal Sunshine of the Spotless Mind (2004)": ("eternal sunshine in a spotless mind",),
    "Rocky II (1979)": ("rocky 2", "Rocky two", "ROCKY II", "rocky", "rokcy 2"),
    "Star Wars: Episode VIII – The Last Jedi (2017)": (
        "star wars",
        "starwars",
        "the last jedi",
        "Star Wars 8",
        "star wars episode 8 the last jedi",
    ),
    "The Lord of the Rings: The Fellowship of the Ring (2001)": (
        "LOTR",
        "lord of rings",
        "lord of the rings",
        "fellowship of the ring",
    ),
    "Fast & Furious 6 (2013)": ("Fast and furious six", "seen fast & furious?"),
    "Amélie (2001)": ("amelie", "Amelie", "Amélie"),
    "Se7en (1995)": ("se7en", "I liked Seven", "S e v e n"),
    "WALL·E (2008)": ("wall-e", "Walle", "WALL E"),
    "Home Alone (1990)": ("have you seen home alone?", "I mean Home Alone, the classic"),
    "Stardust (2007)": ("star dust", "stardust"),
    "Boyz n the Hood": ("boys n the hood",),
    "Up (2009)": (
        'have you "Up"?',
        "have you 'Up'?",
        "have you got “Up”?",
        "I watched Up yesterday.",
        "up (2009)",
        "Up from 2009",
        "Up.",
        "*up*",
        "#Up",
        "It is called up.",
    ),
    "Frozen (2013)": (
        "i want to watch frozen",
        "Something like frozen.",
        "It is called frozen.",
        "F r o z e n",
        "fro-zen please",
        "Fr0zen",
        "frozen 2013",
        "the 2013 movie frozen",
        "I want Frozen",
        "Frozen!",
        "frozen",
        "my kids want Frozn",
        "my kids want Fr*zen",
        "Yes. Frozen.",
        "Frozen sounds great.",
    ),
    "The Guard (2011)": ("The Guard was great", "and The Guard", "Guard, The"),
    "M*A*S*H (1970)": ("mash", "M.A.S.H."),
    "O (2001)": ('"O"', "O (2001)", "the movie O, please"),
}

INNOCENT = {
    "Rush (2013)": ("brushes", "no rush", "I RUSH"),
    "Superbad (2007)": ("it was super bad",),
    "Inception (2010)": ("a great exception and reception",),
    "The Rapist": ("a therapist",),
    "Friday (1995)": ("on Friday", "Friday night", "next Friday"),
    "Us (2019)": ("the U.S. and the US", "join us"),
    "21 (2008)": ("21 people", "in 21 days"),
    "Step Up (2006)": ("prices step up",),
}


def _watch(name: str, **attributes: object) -> LeakChecker:
    known = catalogue(film(name, **attributes))
    return LeakGuard(known).watch([item.ref for item in known])


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, texts in LEAKS.items() for t in texts])
def test_a_leak_is_found(name: str, text: str) -> None:
    assert _watch(name).leaks(text)


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, texts in INNOCENT.items() for t in texts])
def test_talk_is_no_leak(name: str, text: str) -> None:
    assert _watch(name).leaks(text) == ()


def test_the_leaking_words_are_told_in_order() -> None:
    known = catalogue("The Matrix (1999)", "Inception (2010)")
    watch = LeakGuard(known).watch([item.ref for item in known])
    assert watch.leaks("Say, inceptoin or MATRIX?") == ("inceptoin", "MATRIX")


def test_an_ordinary_title_as_the_answer_to_which_one() -> None:
    watch = _watch("Heat (1995)")
    assert watch.leaks("It's heat.", answering="Which one do you mean?")
    assert not watch.leaks("It's heat.", answering="What makes the city unbearable?")


def test_the_name_of_a_known_person_is_not_a_title() -> None:
    watch = _watch("Selena (1997)", actors=("Selena Gomez",))
    assert not watch.leaks("I like Selena Gomez.")
    assert watch.leaks("I like Selena.")
    assert watch.leaks("I like Selena Gome.")


def test_a_target_outside_the_catalogue_is_watched_by_its_name() -> None:
    watch = LeakGuard(catalogue("Other")).watch([ItemRef(id=None, name="The Matrix (1999)")])
    assert watch.leaks("the matrix")


def test_the_spoken_title_alone_may_be_said() -> None:
    known = catalogue("Scream (1996)", "Scream 2 (1997)", "Halloween (1978)")
    first, second, other = (item.ref for item in known)
    watch = LeakGuard(known).watch([first, second, other])
    assert watch.leaks("Scream, then?", spoken=[first]) == ()
    assert watch.leaks("I mean Scream 2, then?", spoken=[second]) == ()
    assert watch.leaks("I mean Scream 2, then?", spoken=[first])
    assert watch.leaks("What about Halloween, then?", spoken=[first])
    assert watch.leaks("All right, Halloween it is.", spoken=[other]) == ()
    assert watch.leaks("Hallowen is fine.", spoken=[other]) == ()


def test_cutting_takes_the_sentence_alone() -> None:
    watch = _watch("The Matrix (1999)")
    said = "I like robots. Is it The Matrix? It should be dark!"
    assert watch.cut(said) == "I like robots. It should be dark!"


def test_a_neutral_sentence_where_nothing_is_left() -> None:
    watch = _watch("The Matrix (1999)")
    assert watch.cut("The Matrix!") == "Could you suggest something along those lines?"


def test_a_title_spread_over_sentences_is_cut() -> None:
    watch = _watch("The Matrix (1999)")
    cut = watch.cut("It is M. A. T. R. I. X. for me.")
    assert not watch.leaks(cut)


def test_the_neutral_sentence_is_no_leak_either() -> None:
    watch = _watch("Something Along Those Lines")
    assert watch.cut("something along those lines") == "What would you recommend?"


HOSTILE = {
    "letters": "a " * 100_000,
    "one word": "a" * 200_000,
    "spelled": "U p " * 50_000,
    "sentences": "up. " * 50_000,
    "hashes": "#" * 200_000,
    "quotes": '"' * 200_000,
    "accents": "u\u0301" * 100_000,
    "leet": "1a" * 100_000,
    "glued titles": "lastjedi" * 25_000,
    "marks": "!|" * 100_000,
    "spaces": " " * 200_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.slow
def test_time_is_linear_in_the_text(kind: str) -> None:
    known = catalogue("Up (2009)", "Star Wars: Episode VIII – The Last Jedi (2017)")
    watch = LeakGuard(known).watch([item.ref for item in known])
    piece = HOSTILE[kind][: len(HOSTILE[kind]) // 16]
    assert grows_linearly(lambda times: watch.leaks(piece * times))
