"""Semantic Relevance: the share of the films recommended in the text that are in the list."""

from recjury.judges.guideline import FILLED_NAMES, LINKED_LIST
from recjury.judges.measured.anchors import (
    Outcome,
    counted,
    from_share,
    join_first,
    not_applicable,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.knowledge import TitleMention
from recjury.records import Speaker


def recommended(annotated: AnnotatedLog) -> tuple[TitleMention, ...]:
    """The films that the system names and the user had not, in order, without repeats."""
    films: dict[str, TitleMention] = {}
    history = zip(annotated.history, annotated.log.scenario.history, strict=True)
    heard = {key for text, told in history if told.speaker is Speaker.USER for key in text.keys}
    for turn in annotated.turns:
        if not turn.by_system:
            heard |= turn.said.keys
            continue
        for film in turn.said.named:
            if film.key not in heard and not turn.failed:
                films.setdefault(film.key, film)
    return tuple(films.values())


def semantic_relevance(annotated: AnnotatedLog) -> Outcome:
    """Score the share of recommended films in the list by `from_share`; 0 without a recommendation.

    A title that the catalogue does not have is never in the list.
    """
    if not annotated.system:
        return not_applicable("the system had no turn")
    if not annotated.session:
        return not_applicable("no recommendation list")
    if annotated.log.items_linked:
        return not_applicable(LINKED_LIST)
    if annotated.log.names_filled:
        return not_applicable(FILLED_NAMES)
    films = recommended(annotated)
    if not films:
        return score_of(0, "the text recommends nothing")
    ids = {item.id for item in annotated.session if item.id is not None}
    missing = [film.text for film in films if film.id is None or film.id not in ids]
    there = len(films) - len(missing)
    summary = f"{there} of {counted(len(films), 'recommended film')} in the list"
    return score_of(
        from_share(there, len(films)),
        f"{summary}; not: {join_first(missing)}" if missing else summary,
    )
