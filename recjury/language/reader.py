"""`read` and `read_reply`: what utterances do, in the light of what was said before."""

from collections.abc import Sequence

from recjury.knowledge import Catalogue
from recjury.language.reading import Reading, ReplyCheck
from recjury.records import Act, Turn


def read(turn: Turn, before: Sequence[Turn], catalogue: Catalogue | None = None) -> Reading:  # noqa: ARG001
    """What a user's `turn` does after the turns `before` it."""
    if turn.acts:
        return _declared(turn)
    return Reading(dict.fromkeys(Act, 0.5), frozenset(), frozenset())


def _declared(turn: Turn) -> Reading:
    yes = frozenset(each.act for each in turn.acts)
    wishes = {
        act: tuple(each.wish for each in turn.acts if each.act is act and each.wish is not None)
        for act in (Act.WISH, Act.REFUSE)
    }
    return Reading(
        acts={act: float(act in yes) for act in Act},
        yes=yes,
        no=frozenset(Act) - yes,
        declared=True,
        wants=wishes[Act.WISH],
        rejects=wishes[Act.REFUSE],
        items=tuple(dict.fromkeys(each.item for each in turn.acts if each.item is not None)),
    )


def read_reply(reply: str, before: Sequence[Turn]) -> ReplyCheck:  # noqa: ARG001
    """How likely a system's `reply` after the turns `before` it is broken."""
    return ReplyCheck(0.5, None)
