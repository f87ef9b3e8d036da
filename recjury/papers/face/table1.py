"""FACE's table 1: how far scores of turns and dialogues correlate with people's labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from recjury.corpora.crsarena import SUBSETS
from recjury.corpora.data_problems import Problem
from recjury.errors import ConfigError
from recjury.input_files import read_json_object
from recjury.papers.face.face_scores import FaceScores, face_scores, label_file
from recjury.papers.face.judged_labels import judged, planned_calls
from recjury.papers.published import in_one_cell
from recjury.plugins import Names
from recjury.records import Aspect, ExpectedCalls, ScoreTarget
from recjury.stats.correlation import Correlation, correlate
from recjury.tables import Analysis, AnalysisInput, Cell, Column, Findings, Input, Table, table_of

_PUBLISHED = "baselines.json"
_PUBLISHED_SUBSETS = {"redial": "CRSArena-Eval_RD", "opendialkg": "CRSArena-Eval_KG"}
_CORRELATION = (Column("pearson", "r", 3), Column("spearman", "rho", 3), Column("n"))
_SHOWN = 5  # problems of one kind that are named


class FaceRow(NamedTuple):
    """The correlations of one aspect in one subset.

    `labelled` counts the places with a label, `without_label` the scores without one.
    """

    subset: str
    aspect: Aspect
    correlation: Correlation
    labelled: int
    without_label: int


class FaceTable1(Analysis):
    """FACE's scores against people's labels: correlations by aspect and subset.

    The score of a turn or dialogue is the mean over its particles and instructions; without any it
    has no score and is not counted in n. With all seven aspects, a row for each subset has their
    means. The published values are there if baselines.json stands
    beside the labels. Other evaluators of the store that rate the same aspects have a table of
    their own. The scores of a store are written as files, too: one run file for each evaluator.

    With --config, the labelled conversations are first rated by the evaluators of that file, as by
    `recjury judge`; what the store has already is not asked for again.
    """

    source: ClassVar[str] = "FACE, table 1"
    needs: ClassVar[tuple[Input, ...]] = (Input.LABELS,)
    takes: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN, Input.CONFIG)
    calls: ClassVar[str] = "with --config, those of its evaluators"

    runs: Path | None = Field(
        None, description="scores in place of a campaign: a folder of {aspect}.jsonl, or a run file"
    )
    strict: bool = Field(False, description="leave out scores outside their aspect's scale")
    pairs: Names = Field(
        (), description='"METRIC=ASPECT": hold this metric beside this aspect of the labels'
    )
    limit: int | None = Field(
        None, ge=1, description="with --config: rate only the first conversations"
    )

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The calls of the file's evaluators. Raises UserError."""
        return planned_calls(given, self.limit) if self._asks(given) else ()

    async def run(self, given: AnalysisInput) -> Findings:
        """The table, and what is wrong in the input."""
        problems: Mapping[str, int] = {}
        if self._asks(given):
            given, problems = await judged(given, self.limit)
        found = face_scores(given, self.runs, strict=self.strict, pairs=self.pairs)
        published = _published(label_file(given).parent / _PUBLISHED)
        files = dict(found.files)
        if found.problems:
            lines = (f"{problem}\n" for problem in found.problems)
            files["problems.txt"] = "".join(lines).encode(errors="backslashreplace")
        return Findings(
            tables=(_table(face_rows(found), published), *_others(found)),
            files=files,
            notes=tuple(_named_problems(found.problems)),
            problems=problems,
        )

    def _asks(self, given: AnalysisInput) -> bool:
        if given.config is not None and self.runs is not None:
            raise ConfigError("--config asks models for scores, and runs has them: give one")
        return given.config is not None


def face_rows(found: FaceScores) -> list[FaceRow]:
    """Scores beside labels by subset and aspect, over the places that have both.

    Aspects are in the order of `Aspect`; those without scores are left out.
    """
    rows: list[FaceRow] = []
    for subset in SUBSETS:
        for aspect in (each for each in Aspect if each in found.scores):
            scores = _of_subset(subset, found.scores[aspect])
            labels = _of_subset(subset, found.people.labels.get(aspect, {}))
            both = [place for place in labels if place in scores]
            correlation = correlate(
                [scores[place] for place in both], [labels[place] for place in both]
            )
            rows.append(FaceRow(subset, aspect, correlation, len(labels), len(scores) - len(both)))
    return rows


def _others(found: FaceScores) -> Iterator[Table]:
    """The rows of the other evaluators of the store, if there are any."""
    rows = [
        {"evaluator": name, "subset": row.subset, "aspect": str(row.aspect)}
        | row.correlation._asdict()
        for name, scores in found.others.items()
        for row in face_rows(found._replace(scores=scores))
    ]
    names = ("evaluator", "subset", "aspect")
    if rows:
        columns = (*map(Column, names), *_CORRELATION)
        yield table_of("evaluators", columns, rows)


def _of_subset(subset: str, places: Mapping[ScoreTarget, float]) -> dict[ScoreTarget, float]:
    """The places of a subset; an id in another format belongs to no subset."""
    return {
        place: value
        for place, value in places.items()
        if subset in place.conversation.split("_")[1:-1]
    }


def _published(path: Path) -> Mapping[str, Any]:
    """The published correlations, by the paper's names of subsets, evaluators and aspects."""
    return read_json_object(path) or {}


def _table(rows: Sequence[FaceRow], published: Mapping[str, Any]) -> Table:
    names = list(published.get(_PUBLISHED_SUBSETS["redial"], {}))
    columns = (
        Column("subset"),
        Column("aspect"),
        *_CORRELATION,
        Column("labelled", "labelled places"),
        Column("without_label", detail=True),
        *(Column(f"published {name}", f"{name}, published: r; rho") for name in names),
    )
    cells: list[dict[str, Cell]] = []
    for row in rows:
        theirs = published.get(_PUBLISHED_SUBSETS[row.subset], {})
        cells.append(
            {
                "subset": row.subset,
                "aspect": str(row.aspect),
                **row.correlation._asdict(),
                "labelled": row.labelled,
                "without_label": row.without_label,
                **{f"published {name}": _pair(theirs.get(name, {}), row.aspect) for name in names},
            }
        )
    for subset in dict.fromkeys(row.subset for row in rows):
        own = [row.correlation for row in rows if row.subset == subset]
        if len(own) == len(Aspect):
            cells.append(_mean(subset, own, published.get(_PUBLISHED_SUBSETS[subset], {})))
    return table_of("table1", columns, cells)


def _mean(
    subset: str, own: Sequence[Correlation], published: Mapping[str, Mapping[str, Any]]
) -> dict[str, Cell]:
    """The means over all aspects, where none of them is missing."""
    row: dict[str, Cell] = {"subset": subset, "aspect": "mean of all aspects"}
    for name in ("pearson", "spearman"):
        values = [getattr(each, name) for each in own]
        row[name] = None if None in values else fmean(values)
    for name, aspects in published.items():
        pairs = [tuple(pair.values()) for pair in aspects.values()]
        if len(pairs) == len(Aspect) and all(None not in pair for pair in pairs):
            means = (fmean(values) for values in zip(*pairs, strict=True))
            row[f"published {name}"] = in_one_cell(means)
    return row


def _pair(published: Mapping[str, Mapping[str, float | None]], aspect: Aspect) -> str | None:
    pair = published.get(str(aspect).replace("dialogue_", "dialog_"))
    return None if pair is None else in_one_cell(pair.values())


def _named_problems(problems: Sequence[Problem]) -> Iterator[str]:
    """How many problems there are of each kind, and the first of each."""
    for fault in dict.fromkeys(problem.fault for problem in problems):
        some = [str(problem) for problem in problems if problem.fault is fault]
        more = f"; and {len(some) - _SHOWN} more" if len(some) > _SHOWN else ""
        yield f"{fault}: {len(some)} ({'; '.join(some[:_SHOWN])}{more})"
