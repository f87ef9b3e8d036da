"""Labelled turns or dialogues with their particles, and instructions held against the labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import fmean
from typing import NamedTuple

from scipy import stats

from recjury.agreement import Labels
from recjury.errors import CallFailed, UserError
from recjury.files import nearest
from recjury.judges import Criterion, Face
from recjury.judges.face import Particle, particles_of
from recjury.judges.subjects import Subject, subjects
from recjury.llm import Ask, gather
from recjury.records import Level, Status

_FEWEST = 0.5  # of the examples; over fewer, a correlation is of what was easy to score


class Piece(NamedTuple):
    """A particle of a turn, with the label of the whole turn or dialogue (l_p of equation 2)."""

    name: str
    turn: Subject
    particle: Particle
    label: float


class Example(NamedTuple):
    """A labelled turn or dialogue, and its particles; the label is on the aspect's scale."""

    name: str
    cluster: str
    subject: Subject
    label: float
    pieces: tuple[Piece, ...] = ()


class Sides(NamedTuple):
    """What instructions are optimised on, and what they are chosen by."""

    train: tuple[Example, ...]
    validation: tuple[Example, ...]


def labelled(labels: Labels, criterion: Criterion) -> list[Example]:
    """The examples that have a label of the aspect. Raises UserError if there are none.

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
        Example(
            f"{id_}/{turn}",
            str(cluster),
            Subject(logs[id_], None if turn < 0 else int(turn)),
            float(label),
        )
        for id_, turn, cluster, label in zip(*columns, strict=True)
    ]


def divided(examples: Sequence[Example], share: float, seed: int) -> Sides:
    """`share` of the clusters for training, the rest for validation. Raises UserError."""
    clusters = sorted({example.cluster for example in examples})
    drawn = Random(seed).sample(clusters, len(clusters))
    train = set(drawn[: round(share * len(clusters))])
    sides = Sides(
        tuple(example for example in examples if example.cluster in train),
        tuple(example for example in examples if example.cluster not in train),
    )
    for name, side in sides._asdict().items():
        if len({example.label for example in side}) < 2:
            raise UserError(
                f"too few labels: the {len(side)} for {name} do not differ; {len(clusters)} "
                "dialogues are labelled in all"
            )
    return sides


async def with_pieces(examples: Sequence[Example], face: Face, ask: Ask) -> tuple[Example, ...]:
    """The examples with their particles. Raises CallFailed and Stop."""

    async def one(example: Example) -> Example:
        turns = [example.subject]
        if example.subject.turn is None:
            turns = list(subjects(example.subject.log, Level.TURN))
        found = await gather(_particles(turn, face, ask) for turn in turns)
        pieces = (
            (turn, particle) for turn, some in zip(turns, found, strict=True) for particle in some
        )
        return example._replace(
            pieces=tuple(
                Piece(f"{example.name}/{number}", turn, particle, example.label)
                for number, (turn, particle) in enumerate(pieces)
            )
        )

    return tuple(await gather(map(one, examples)))


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


class Measurement(NamedTuple):
    """The correlation with labels (None: undefined), and the score of each example (None: none)."""

    correlation: float | None
    scores: tuple[float | None, ...]


@dataclass
class Scorer:
    """Scores particles of one aspect; each particle once under each instruction."""

    face: Face
    criterion: Criterion
    ask: Ask
    correlation: str
    _known: dict[tuple[str, str], float | None] = field(default_factory=dict)

    async def score(self, instruction: str, piece: Piece) -> float | None:
        """E(I, p) of equation 1, or None if no reply can be read. Raises CallFailed and Stop."""
        key = (instruction, piece.name)
        if key not in self._known:
            said = await self.face.score(
                self.criterion, piece.turn, piece.particle, instruction, self.ask
            )
            if said.status is Status.CALL_FAILED:
                raise CallFailed(said.reason)
            self._known[key] = said.value.score if said.value else None
        return self._known[key]

    async def scores(self, instruction: str, pieces: Sequence[Piece]) -> list[float | None]:
        """The scores of some particles."""
        return await gather(self.score(instruction, piece) for piece in pieces)

    async def reward(self, instruction: str, pieces: Sequence[Piece]) -> float | None:
        """The correlation over single particles with the labels of their examples (algorithm 2)."""
        found = await self.scores(instruction, pieces)
        return self.correlated(found, [piece.label for piece in pieces])

    async def measured(self, instruction: str, examples: Sequence[Example]) -> Measurement:
        """The correlation of the examples' mean scores, over those that have one."""
        every = await gather(self.scores(instruction, example.pieces) for example in examples)
        return self.of([mean(scores) for scores in every], examples)

    def of(self, scores: Sequence[float | None], examples: Sequence[Example]) -> Measurement:
        """The correlation of scores; undefined if fewer than half of the examples have one."""
        known = sum(score is not None for score in scores)
        found = self.correlated(scores, [example.label for example in examples])
        return Measurement(found if known >= _FEWEST * len(examples) else None, tuple(scores))

    def correlated(self, scores: Sequence[float | None], labels: Sequence[float]) -> float | None:
        """Spearman's rho or Pearson's r; None if scores or labels do not vary."""
        pairs = [(s, label) for s, label in zip(scores, labels, strict=True) if s is not None]
        if any(len(set(side)) < 2 for side in ((p[0] for p in pairs), (p[1] for p in pairs))):
            return None
        x, y = zip(*pairs, strict=True)
        rank = self.correlation == "spearman"
        found = stats.spearmanr(x, y) if rank else stats.pearsonr(x, y)
        return round(float(found.statistic), 9)


def mean(scores: Sequence[float | None]) -> float | None:
    """The mean of those that are known; rounded, so that equal means are equal."""
    known = [score for score in scores if score is not None]
    return round(fmean(known), 9) if known else None


def best(measured: Mapping[str, Measurement], number: int) -> list[str]:
    """The names with the highest correlations; undefined ones last, ties in their order."""
    values = {n: -2.0 if m.correlation is None else m.correlation for n, m in measured.items()}
    return sorted(measured, key=values.__getitem__, reverse=True)[:number]
