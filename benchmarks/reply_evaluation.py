"""The correlations and robustness of scorers of replies in one function, as JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recjury.agreement.replies.agreement import (
    RESAMPLES,
    AgreementTable,
    Average,
    agreement_table,
    system_means,
)
from recjury.agreement.replies.maintains_context import maintained_context
from recjury.agreement.replies.registry import ScorerContext, ScorerEntry, chosen
from recjury.agreement.replies.robustness import RobustnessTable, different, drawn, robustness_table
from recjury.agreement.replies.rows import SETS, RatedRow, read_rows_of, subsets_of
from recjury.agreement.replies.scoring import ScoringStep, Took, Watch, score_rows
from recjury.corpora.dialogues import RobustnessPair, read_robustness_pairs
from recjury.errors import ConfigError, DataError
from recjury.records import JSON
from recjury.stats.clustered import BootstrapEstimate

_FOLDER = "dialogue-eval"


class MetaEvaluationPlan(NamedTuple):
    """What is evaluated on what. Without `scorers`, all that can be made.

    `data` is the folder of the sets, or the one that holds dialogue-eval/. `model` is a folder with
    a causal language model, `replies` one with a trained judge of replies. With `robustness`,
    scorers also read pairs: those of the file `pairs`, or of the data, and with `pairs_each` at
    most so many of each attack, drawn with `seed`.
    """

    data: Path
    sets: Sequence[str] = SETS
    scorers: Sequence[str] | None = None
    model: Path | None = None
    replies: Path | None = None
    robustness: bool = True
    pairs: Path | None = None
    pairs_each: int | None = None
    resamples: int = RESAMPLES
    seed: int = 0


class MetaEvaluation(NamedTuple):
    """The rows, each scorer's scores of them, the tables, and what each scorer took.

    `context` compares the scores with another rating of the USR sets, "Maintains Context". `cut`
    counts texts that were too long for the causal model and lost their oldest tokens.
    """

    rows: tuple[RatedRow, ...]
    scores: Mapping[str, Sequence[float | None]]
    agreement: AgreementTable
    context: AgreementTable | None
    robustness: RobustnessTable | None
    took: Mapping[str, Took]
    cut: int = 0

    def as_json(self) -> dict[str, JSON]:
        """By set, subset and scorer: n, r, rho, intervals; the averages; robustness; seconds."""
        return {
            "sets": agreement_json(self.agreement),
            "averages": {
                name: {scorer: _average(each) for scorer, each in row.items()}
                for name, row in self.agreement.averages.items()
            },
            "maintains_context": None if self.context is None else agreement_json(self.context),
            "robustness": None if self.robustness is None else robustness_json(self.robustness),
            "seconds": {
                name: {"wall": round(own.wall, 1), "cpu": round(own.cpu, 1)}
                for name, own in self.took.items()
            },
            "cut": self.cut,
        }


async def meta_evaluate(plan: MetaEvaluationPlan, watch: Watch = lambda _: None) -> MetaEvaluation:
    """Score every row and pair, and compare the scores with people's ratings.

    Raises ConfigError or DataError, in one line, before anything is scored.
    """
    data = folder_of_sets(plan.data)
    entries = chosen(plan.scorers, model=plan.model is not None)
    context = ScorerContext(data, plan.model, replies=plan.replies, seed=plan.seed)
    _check(entries, context)
    rows = read_rows_of(data, plan.sets)
    pairs = _pairs(plan, data)
    scored = await score_rows(entries, context, rows, watch)
    robustness = None if pairs is None else await robustness_table(entries, context, pairs, watch)
    scores = {**scored.scores, **system_means(rows)}
    watch(ScoringStep("intervals", f"{plan.resamples} resamples", 0, 1))
    table = agreement_table(
        rows, scores, subsets_of(plan.sets), resamples=plan.resamples, seed=plan.seed
    )
    context_table = maintained_context(rows, scores, resamples=plan.resamples, seed=plan.seed)
    return MetaEvaluation(rows, scores, table, context_table, robustness, scored.took, context.cut)


def agreement_json(table: AgreementTable) -> dict[str, JSON]:
    """A table by set, subset and scorer."""
    sets: dict[str, dict[str, JSON]] = {}
    for subset, row in table.subsets.items():
        scorers: dict[str, JSON] = {
            name: {
                "n": each.n,
                **_coefficients(each.pearson, each.spearman),
                "within_systems": {
                    "r": _rounded(each.within.pearson),
                    "rho": _rounded(each.within.spearman),
                },
            }
            for name, each in row.items()
        }
        sets.setdefault(subset.set, {})[subset.name] = {
            "n": table.rows[subset],
            "groups": table.groups[subset],
            "scorers": scorers,
        }
    return dict(sets)


def folder_of_sets(data: Path) -> Path:
    """The folder of the sets, if `data` is that folder or the one that holds dialogue-eval/."""
    return data / _FOLDER if (data / _FOLDER).is_dir() else data


def _check(entries: Sequence[ScorerEntry], context: ScorerContext) -> None:
    """Make each scorer once, and load the model if one is needed, which raises UserError."""
    if not entries:
        raise ConfigError("no scorer is named")
    for entry in entries:
        entry.make(context)
    if any(entry.needs_model for entry in entries):
        context.follow_up_model()


def _pairs(plan: MetaEvaluationPlan, data: Path) -> tuple[RobustnessPair, ...] | None:
    if plan.pairs is None and not plan.robustness:
        return None
    folder = data if plan.pairs is None else plan.pairs
    pairs = tuple(read_robustness_pairs(folder))
    if not different(pairs):
        raise DataError("there is no pair of two different replies", path=folder)
    return pairs if plan.pairs_each is None else drawn(pairs, plan.pairs_each, plan.seed)


def _coefficients(r: BootstrapEstimate, rho: BootstrapEstimate) -> dict[str, JSON]:
    return {
        "r": _rounded(r.value),
        "r_interval": [_rounded(r.low), _rounded(r.high)],
        "rho": _rounded(rho.value),
        "rho_interval": [_rounded(rho.low), _rounded(rho.high)],
    }


def _average(each: Average) -> dict[str, JSON]:
    return _coefficients(each.pearson, each.spearman)


def robustness_json(table: RobustnessTable) -> dict[str, JSON]:
    """By scorer: the mean over the attacks, and each attack's accuracy; and what was dropped."""
    scorers: dict[str, JSON] = {}
    for name, row in table.scorers.items():
        attacks: dict[str, JSON] = {
            attack: {**each._asdict(), "accuracy": _rounded(each.accuracy)}
            for attack, each in row.items()
        }
        scorers[name] = {"mean": _rounded(table.means.get(name)), "attacks": attacks}
    return {"dropped": dict(table.dropped), "scorers": scorers}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
