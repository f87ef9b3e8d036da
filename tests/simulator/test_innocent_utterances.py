"""A hundred utterances that hold title-like words and mean no title are left as they are."""

import asyncio

import pytest

from recjury.records import ItemRef, Speaker
from recjury.simulator import LeakGuard, converse
from tests.simulator.doubles import EndlessSystem, ScriptedUser, catalogue, film, scenario

TITLES = (
    "It (2017)",
    "Up (2009)",
    "Big (1988)",
    "Her (2013)",
    "Frozen (2013)",
    "Once (2007)",
    "Life (2017)",
    "Crash (2004)",
    "Speed (1994)",
    "Taken (2008)",
    "Drive (2011)",
    "Heat (1995)",
    "Rush (2013)",
    "Hush (2016)",
    "Us (2019)",
    "You (2017)",
    "They (2002)",
    "Signs (2002)",
    "Friday (1995)",
    "Contact (1997)",
    "Brave (2012)",
    "Salt (2010)",
    "Saw (2004)",
    "Super (2010)",
    "Room (2015)",
    "Ray (2004)",
    "Black (2005)",
    "Emma (2020)",
    "The Guard (2011)",
    "The House (2017)",
    "The Game (1997)",
    "The Others (2001)",
    "Date Night (2010)",
    "Game Night (2018)",
    "Old School (2003)",
    "About Time (2013)",
    "Get Out (2017)",
    "You Again (2010)",
    "Die Hard 2 (1990)",
    "Home Alone (1990)",
    "Superbad (2007)",
    "Inception (2010)",
    "Fight Club (1999)",
    "Titanic (1997)",
    "Stardust (2007)",
    "The Matrix (1999)",
    "The Rock (1996)",
    "21 (2008)",
    "300 (2006)",
    "2012 (2009)",
    "Nine (2009)",
    "Drama (2010)",
    "War (2007)",
)

INNOCENT = (
    "I want something that will cheer me up.",
    "It is a big deal for us, so it should be good.",
    "We have frozen pizza night at home.",
    "Once upon a time I liked westerns.",
    "What's up? Nothing much, just looking for a film.",
    "I saw it with her last year.",
    "Life is short, so please keep it light.",
    "My computer may crash any moment, so hurry.",
    "It should have some speed to it.",
    "I have taken the evening off.",
    "We drive home late, so nothing too long.",
    "The heat is awful today; something cool, please.",
    "I am in a rush, sorry.",
    "Hush hush stories about spies are my thing.",
    "Tell us more about them.",
    "You know what I mean. They usually get it.",
    "Are there signs of a good twist in it?",
    "On Friday we watch films together.",
    "It's for Friday night, with the kids.",
    "I lost contact with the genre years ago.",
    "I like brave heroes and big hearts.",
    "Take it with a grain of salt, but I hate musicals.",
    "I saw a lot of those already.",
    "That would be super!",
    "There is room for one more comedy.",
    "A ray of hope at the end would be nice.",
    "Something in black and white, perhaps.",
    "I love Emma Stone in everything.",
    "I like whatever Emma Stone plays in, and Ray Liotta, too.",
    "Keep up your guard, I am picky.",
    "The house was full last night, so we stayed in the kitchen.",
    "I liked the game more than the film they made of it.",
    "I have seen the others.",
    "It is for a date night with my wife.",
    "We wanted something for game night.",
    "I like old school action.",
    "It is about time that we saw a good one.",
    "I rarely get out these days.",
    "It's you again! Let's go on.",
    "I am a die-hard fan of thrillers.",
    "It was super bad, honestly.",
    "With one exception, I liked them all.",
    "A night club scene would be fun.",
    "I do not mind if it is long. IT JUST HAS TO BE GOOD.",
    "I LOVE IT when they talk fast.",
    "That was 21 years ago.",
    "We were 300 people in the cinema.",
    "Something from 2012 would be fine.",
    "Anything made after 2012, please.",
    "I have nine of them at home.",
    "I like drama.",
    "I would watch a war film, too.",
    "Drama is fine. War, too, if it is not cruel.",
    "Is it sad? I would cry my eyes out.",
    "It does not need to be a big name.",
    "I saw her in a comedy once; she was great.",
    "Have you seen it? Is it any good?",
    "I watched it. It was fine.",
    "I'd like to see them up close.",
    "Up to you, really.",
    "Once more, please: something funny.",
    "Big stars do not impress me.",
    "Her earlier films were better.",
    "Frozen landscapes would be lovely.",
    "Life on other planets fascinates me.",
    "Speed is not everything, I like slow films.",
    "Drive-in classics are what I grew up with.",
    "Heat and dust, deserts and camels: that sort of thing.",
    "Rush hour comedies are fun.",
    "Us older folks like a calm story.",
    "They should fall in love in the end.",
    "You choose. I trust you.",
    "The rock music of that era would suit me.",
    "Something with rock music in it, or jazz.",
    "Is he at home when it happens?",
    "The story can be set on a ship, it need not be a giant liner.",
    "I like films from the U.S. and from France.",
    "The US election was enough drama for me.",
    "It takes us once around the world, and life is never dull.",
    "I gave her a big hug, took it easy, and looked up.",
    "My flight was taken over by the crew, a long story.",
    "We had a car crash last month, so nothing with cars.",
    "He should drive fast; I like the rush of it.",
    "My friends said they'd seen it once, so something else.",
    "Room for the kids, heat in the winter: a story of a small house.",
    "I'm up for anything with dinosaurs.",
    "It's up to her, and she likes big adventures.",
    "Is it the one with the big fish? No, not that.",
    "What is it like? I need to know if it fits us.",
    "We saw them live once. It was big.",
    "She said it'd be good for us to see her side of it.",
    "He has taken up painting, so a film on art?",
    "Let us say the life of a painter, then.",
    "I'll take it slow; what else have you got?",
    "Something set in a house, with others who guard a secret.",
    "How was it? My sister was taken with it.",
    "Could it be that you know one about a robot with a heart?",
    "I'd rather see a film with a brave girl who saves her brother.",
    'My kids say "cheer up, dad" all the time, so make it funny.',
    "  Two spaces before, and a tab\tinside: it stays as it is.  ",
)


def test_there_are_a_hundred() -> None:
    assert len(set(INNOCENT)) == 100


@pytest.mark.parametrize("number", range(100))
def test_an_innocent_utterance_passes_unchanged(number: int) -> None:
    said = INNOCENT[number]
    films = [film(name, actors=("Emma Stone", "Ray Liotta")) for name in TITLES]
    known = catalogue(*films)
    user, system = ScriptedUser(lambda moment: said), EndlessSystem("Hm, go on.")
    talk = scenario([one.ref for one in films])
    guard = LeakGuard(known, unique_values="allow")  # in so few films, each year is unique
    log = asyncio.run(converse(user, system, talk, guard, known))
    sent = [turn.text for turn in log.interaction if turn.speaker is Speaker.USER]
    assert sent == [said] * 5
    assert log.leaks_caught == log.leaks_through == 0
    assert user.rewritten == []


@pytest.mark.parametrize("title", TITLES)
def test_the_same_watch_catches_each_of_the_titles(title: str) -> None:
    """The titles above are watched: each is a leak once it is meant as a title."""
    known = catalogue(*TITLES)
    watch = LeakGuard(known).watch([ItemRef(id=title.lower(), name=title)])
    assert watch.leaks(f'Have you got "{title.split(" (")[0]}"?')
    assert watch.leaks(f"Is it {title}?")
