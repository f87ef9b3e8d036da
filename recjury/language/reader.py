"""`read` and `read_reply`: what utterances do, in the light of what was said before."""

from collections.abc import Sequence
from functools import cache
from itertools import zip_longest

from recjury.knowledge import Catalogue
from recjury.knowledge.text_cache import cached_by_text
from recjury.language.act_model import MODELLED, ActModel
from recjury.language.defects import defects_of, other_language_words
from recjury.language.english import is_english
from recjury.language.reading import Breakage, Reading, ReplyCheck
from recjury.language.reply_model import ReplyModel
from recjury.language.tokens import (
    masked_tokens,
    prose,
    sentence_texts,
    sentences_of,
    shortened,
)
from recjury.language.weights import shipped
from recjury.language.wishes import spoken_in
from recjury.records import Act, Attribute, Speaker, Turn

SURE, RULED_OUT = 0.55, 0.3
"""From `SURE` on, a turn surely does an act; up to `RULED_OUT`, it surely does not."""

BROKEN, FINE = 0.7, 0.4
"""From `BROKEN` on, a reply is called broken; below `FINE`, it is not; between, it is doubtful."""

_REMEMBERED = 16_384
_ROWS_KEPT = 2_048
_SHOWN_WORDS = 8
_MOST_SENTENCES = 6


def read(turn: Turn, before: Sequence[Turn], catalogue: Catalogue | None = None) -> Reading:
    """What a user's `turn` does after the turns `before` it.

    Declared acts are taken as they are. Otherwise the acts are read from the text and from the
    system's last turn, the values by looking them up: in the catalogue, if there is one. An act
    about an item that a catalogue does not have is about the suggestion in general.
    """
    wanted, rejected = _declared_values(turn) if turn.acts else _spoken_values(turn.text, catalogue)
    named = [] if catalogue is None else [each.id for each in catalogue.link(turn.text)]
    about = [each.item for each in turn.acts if each.item is not None]
    if catalogue is not None and len(catalogue):  # without one, nobody knows what an item is
        about = [each for each in about if each in catalogue]
    return read_acts(turn, before)._replace(
        wants=wanted, rejects=rejected, items=tuple(dict.fromkeys([*about, *named]))
    )


def read_acts(turn: Turn, before: Sequence[Turn]) -> Reading:
    """As `read`, for the acts alone: without values and items."""
    return _declared(turn) if turn.acts else _read(turn.text, _answered(before))


def read_sentences(text: str, before: Sequence[Turn]) -> list[tuple[str, Reading]]:
    """The sentences of a text, and the acts of each after the turns `before` it, read alone."""
    answered = _answered(before)
    sentences = sentence_texts(text)
    rows = _rows(text, answered)[1:] if len(sentences) > 1 and _is_read(text) else []
    return [
        (said, _of_row(row) if row and _is_read(said) else _read(said, answered))
        for said, row in zip_longest(sentences, rows)
    ]


def _declared(turn: Turn) -> Reading:
    yes = frozenset(each.act for each in turn.acts)
    acts = {act: float(act in yes) for act in Act}
    return Reading(acts, yes, frozenset(Act) - yes, declared=True)


Values = tuple[tuple[Attribute, ...], tuple[Attribute, ...]]


def _declared_values(turn: Turn) -> Values:
    """What declared acts wish for, and what they refuse."""
    wanted, rejected = (
        tuple(each.wish for each in turn.acts if each.act is act and each.wish is not None)
        for act in (Act.WISH, Act.REFUSE)
    )
    return wanted, rejected


@cached_by_text(_REMEMBERED)
def _spoken_values(text: str, catalogue: Catalogue | None) -> Values:
    found = spoken_in(text, catalogue)
    wanted, rejected = (
        tuple(dict.fromkeys(each.attribute for each in found if each.refused is refused))
        for refused in (False, True)
    )
    return wanted, tuple(each for each in rejected if each not in wanted)


def _answered(before: Sequence[Turn]) -> str:
    """The text of the system's last turn."""
    return next((t.text for t in reversed(before) if t.speaker is Speaker.SYSTEM), "")


@cache
def _acts() -> ActModel:
    return ActModel(shipped())


@cache
def _replies() -> ReplyModel:
    return ReplyModel(shipped())


def _is_read(text: str) -> bool:
    return any(map(str.isalnum, text)) and is_english(text)


@cached_by_text(_REMEMBERED)
def _read(text: str, answered: str) -> Reading:
    if not _is_read(text):
        english = is_english(text)
        return Reading(dict.fromkeys(Act, 0.5), frozenset(), frozenset(), english=english)
    # One act among several would be lost in a long turn without its surest sentence.
    whole, *parts = _rows(text, answered)
    surest = [max(of_act) for of_act in zip(*(parts or [whole]), strict=True)]
    return _of_row([(one + other) / 2 for one, other in zip(whole, surest, strict=True)])


def _of_row(numbers: Sequence[float]) -> Reading:
    """What a text surely does and does not, by the probabilities of the modelled acts."""
    acts: dict[Act, float] = dict(zip(MODELLED, numbers, strict=True))
    acts[Act.CHAT] = 1 - max(acts.values())
    yes = frozenset(act for act, number in acts.items() if number >= SURE)
    no = frozenset(act for act, number in acts.items() if number <= RULED_OUT)
    return Reading(acts, yes, no)


@cached_by_text(_ROWS_KEPT)
def _rows(text: str, answered: str) -> list[list[float]]:
    """The probabilities of the acts of the whole text, and of its first sentences if it has
    several."""
    sentences = sentence_texts(text)[:_MOST_SENTENCES]
    alone = sentences if len(sentences) > 1 else []
    found: list[list[float]] = _acts().probabilities([text, *alone], answered).tolist()
    return found


def read_reply(reply: str, before: Sequence[Turn] = ()) -> ReplyCheck:  # noqa: ARG001
    """How likely a system's `reply` after the turns `before` it is broken.

    Residue, loops and cut ends are counted; what else is broken, a model finds. Neither looks at
    whether the reply answers: that is what the acts of the user's turns are for.
    """
    return _read_reply(reply)


@cached_by_text(_REMEMBERED)
def _read_reply(reply: str) -> ReplyCheck:
    certain = next(iter(defects_of(reply)), None)
    if certain is not None and certain.kind != "truncated":
        kind: Breakage = certain.kind  # type: ignore[assignment]
        return ReplyCheck(1.0, True, kind, certain.quote)
    if not any(map(str.isalnum, reply)):  # only symbols
        return ReplyCheck(0.5, None)
    if not prose(reply).strip():  # only a list of titles
        return ReplyCheck(0.0, broken=False)
    if not is_english(prose(reply)):
        return ReplyCheck(0.5, None, english=False)
    probability = _replies().probability(reply)
    broken = True if probability >= BROKEN else False if probability < FINE else None
    if not broken:
        return ReplyCheck(probability, broken)
    if certain is not None:
        return ReplyCheck(probability, True, "truncated", certain.quote)
    others = other_language_words(shortened(reply))
    if others:
        return ReplyCheck(probability, True, "mixed_languages", " ".join(others[:3]))
    return ReplyCheck(probability, True, "garbled", _strangest(reply))


def _strangest(reply: str) -> str:
    """The beginning of the sentence whose words follow each other least usually."""
    fluency = _replies().fluency
    sentences = sentences_of(reply)
    worst = min(sentences, key=lambda each: fluency.features(masked_tokens(each))[0])
    return " ".join(worst.raw[:_SHOWN_WORDS])
