"""Texts and conversations in which what programs stumble over is frequent."""

from hypothesis import strategies as st

from recjury.records import ConversationLog, Item, ItemRef, Turn
from tests.judges.measured.logs import FILMS, UNKNOWN, says, talk

CODE = "k7r2m0p4"
"""The answer code of the prompts in these tests."""

_MARKS = (
    *("<think>", "</think>", "<|im_end|>", "<|im_start|>user\n", "[INST]", "[/INST]", "</s>"),
    *("<rating>", "</rating>", '<rating code="a0a0a0a0">', "&lt;rating&gt;", "```json\n", "```"),
    *("{", "}", "[", "]", '"', "'", "\\", "\\u0022", "//", "/*", ",", ":", "\n", "\r\n", "\t"),
    *("\x00", "\x1b[31m", "\x1e", "\x1f", "\u200b", "\u202e", "\u2028", "\ufeff", "\U0001f600"),
    *("statement", "score", "code", "particles", "mention", "null", "true", "NaN", "-1", "1e999"),
    *("3", "4", "100", "0.75", "75/100", "9" * 400),
)
_WORDS = (
    *("I", "want", "a", "comedy", "no", "not", "seen", "it", "thanks", "bye", "Heat", "what", "is"),
    *("the", "film", "film", "by", "Michael Mann", "and", "why", "?", "!", ".", "...", "1995"),
    *(
        "It is a crime film of 1995.",
        "Try Heat (1995).",
        "How about Alien (1979)?",
        "I love drama.",
    ),
    *("Nothing with Al Pacino, please.", "Quel film voulez-vous voir ce soir ?", "лучший фильм"),
)

texts = st.lists(
    st.one_of(st.sampled_from(_MARKS), st.sampled_from(_WORDS), st.text(max_size=6)), max_size=14
).map(" ".join)
"""Short texts of words, marks and arbitrary characters."""

packed_texts = st.lists(st.one_of(st.sampled_from(_MARKS), st.text(max_size=4)), max_size=12).map(
    "".join
)
"""The same without spaces and with few words."""

_items: st.SearchStrategy[Item | ItemRef] = st.sampled_from((*FILMS, UNKNOWN))
_acts = st.sampled_from(
    (
        *("accept heat", "refuse heat", "seen alien", "wish genre=comedy", "refuse genre=horror"),
        *("ask heat year=", "complain", "thank", "bye", "chat", "wish colour=blue", "accept"),
    )
)


@st.composite
def _user_turns(draw: st.DrawFn) -> Turn:
    act = draw(st.one_of(st.none(), _acts))
    return says(draw(texts), *([act] if act else []))


@st.composite
def conversations(draw: st.DrawFn) -> ConversationLog:
    """Up to six exchanges about a small catalogue; some system turns failed."""
    turns: list[Turn | str | None] = []
    for _ in range(draw(st.integers(0, 6))):
        turns.append(draw(_user_turns()))
        turns.append(draw(st.one_of(st.none(), texts)))
    if draw(st.booleans()):
        turns.append(draw(_user_turns()))
    found = draw(st.lists(_items, max_size=4, unique=True))
    targets: list[Item] = draw(st.lists(st.sampled_from(FILMS), max_size=2, unique=True))
    return talk(*turns, items=found, targets=targets)
