"""Labelled turns or dialogues with their particles, and the two sides that they are divided in."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from recjury.agreement import Labels
from recjury.errors import CallFailed, UserError
from recjury.files import nearest
from recjury.judges import Criterion, Face
from recjury.judges.particles import Particle, particles_of
from recjury.judges.subjects import Subject, subjects
from recjury.llm import Ask, gather
from recjury.records import Level, Status


class Piece(NamedTuple):
    """A particle of a turn, with the label of the whole turn or dialogue (l_p of equation 2)."""

    name: str
    turn: Subject
    particle: Particle
    label: float


class Place(NamedTuple):
    """A labelled turn or dialogue, and its particles; the label is on the aspect's scale."""

    name: str
    cluster: str
    subject: Subject
    label: float
    pieces: tuple[Piece, ...] = ()


class Sides(NamedTuple):
    """What instructions are optimised on, and what they are chosen by."""

    train: tuple[Place, ...]
    validation: tuple[Place, ...]


def labelled(labels: Labels, criterion: Criterion) -> list[Place]:
    """The places that have a label of the aspect. Raises UserError if there are none.

    The range of single ratings becomes the aspect's scale: correlations stay as they are, and a
    rewriting model sees score and label on one scale.
    """
    aspect, known = criterion.metric.name, sorted(set(labels.frame["metric"]))
    if aspect not in known:
        raise UserError(
            f"{labels.name} has no labels of {aspect}{nearest(aspect, known)}: {', '.join(known)}"
        )
    single = labels.frame[labels.frame["metric"] == aspect]["score"]
    (low, high), (least, most) = criterion.scale, (single.min(), single.max())
    logs = {each.id: each.log() for each in labels.recordings}
    means = labels.means()
    rows = means[(means["metric"] == aspect) & means["conversation"].isin(logs)]
    rows = rows[(rows["turn"] >= 0) == (criterion.level is Level.TURN)]
    if rows["score"].nunique() < 2:
        raise UserError(
            f"{labels.name}: {len(rows)} {criterion.level}s with a text have a label of {aspect}, "
            "and at least two different labels are needed"
        )
    share = (rows["score"] - least) / (most - least)
    scaled = (low + share * (high - low)).round(9)
    columns = (rows["conversation"], rows["turn"], rows["cluster"], scaled)
    return [
        Place(
            f"{id_}/{turn}",
            str(cluster),
            Subject(logs[id_], None if turn < 0 else int(turn)),
            float(label),
        )
        for id_, turn, cluster, label in zip(*columns, strict=True)
    ]


def divided(places: Sequence[Place], share: float, seed: int) -> Sides:
    """`share` of the clusters for training, the rest for validation. Raises UserError."""
    clusters = sorted({place.cluster for place in places})
    drawn = Random(seed).sample(clusters, len(clusters))
    train = set(drawn[: round(share * len(clusters))])
    sides = Sides(
        tuple(place for place in places if place.cluster in train),
        tuple(place for place in places if place.cluster not in train),
    )
    for name, side in sides._asdict().items():
        if len({place.label for place in side}) < 2:
            raise UserError(
                f"too few labels: the {len(side)} for {name} do not differ; {len(clusters)} "
                "dialogues are labelled in all"
            )
    return sides


async def with_pieces(places: Sequence[Place], face: Face, ask: Ask) -> tuple[Place, ...]:
    """The places with their particles. Raises CallFailed and Stop."""

    async def one(place: Place) -> Place:
        turns = [place.subject]
        if place.subject.turn is None:
            turns = list(subjects(place.subject.log, Level.TURN))
        found = await gather(_particles(turn, face, ask) for turn in turns)
        pieces = (
            (turn, particle) for turn, some in zip(turns, found, strict=True) for particle in some
        )
        return place._replace(
            pieces=tuple(
                Piece(f"{place.name}/{number}", turn, particle, place.label)
                for number, (turn, particle) in enumerate(pieces)
            )
        )

    return tuple(await gather(map(one, places)))


async def _particles(turn: Subject, face: Face, ask: Ask) -> tuple[Particle, ...]:
    found = await particles_of(
        turn, ask, model=face.model, pack=face.pack, temperature=face.temperature
    )
    if found.status is Status.CALL_FAILED:
        raise CallFailed(found.reason)
    return found.value or ()


def sample(pieces: Sequence[Piece], size: int, rng: Random) -> list[Piece]:
    """At most `size` pieces; drawn again while all their labels are equal, which shows nothing."""
    for _ in range(100):
        drawn = rng.sample(pieces, min(size, len(pieces)))
        if len({each.label for each in drawn}) > 1:
            break
    return drawn
