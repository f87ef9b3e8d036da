"""What the measured judges are held against: CoRE's published means, and labels by people."""

from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, TypeAdapter

from recjury.corpora import open_corpus
from recjury.judges.measured import MeasuredPanel
from recjury.records import ConversationLog, Ending, Factor, Scenario, Speaker, Turn

PAPER_SYSTEMS = ("kbrd", "barcor", "unicrs", "chatgpt")

# Means of the three judge models of CoRE, appendix C (GPT-4o-mini, LLaMa3-8B, GLM-4-Air,
# tables 21 to 23), in the order of PAPER_SYSTEMS; the paper's ChatCRS stands beside the recorded
# ChatGPT. Its conversations are not the recorded ones: only the order is compared.
_PUBLISHED: dict[str, dict[Factor, tuple[tuple[float, ...], ...]]] = {
    "opendialkg": {
        Factor.APPROPRIATENESS: (
            (2.4, 3.66, 3.25, 4.0), (0.64, 3.22, 1.86, 4.0), (2.5, 3.83, 3.3, 4.0)),
        Factor.COHERENCE: (
            (0.47, 1.19, 0.51, 3.74), (1.05, 1.5, 1.15, 3.78), (0.53, 1.44, 0.48, 3.88)),
        Factor.DIVERSITY: (
            (3.24, 3.5, 3.14, 3.15), (1.56, 1.82, 1.87, 3.05), (2.63, 2.63, 2.83, 3.25)),
        Factor.EFFECTIVENESS: (
            (1.11, 1.88, 1.42, 3.71), (1.15, 1.98, 1.69, 3.66), (1.24, 1.87, 1.36, 3.69)),
        Factor.EXPLAINABILITY: (
            (0.02, 0.5, 0.16, 2.8), (0.0, 0.44, 0.18, 3.69), (0.5, 0.86, 0.5, 2.88)),
        Factor.GRAMMATICAL_CORRECTNESS: (
            (0.55, 2.12, 2.21, 3.91), (1.14, 2.2, 1.84, 3.87), (1.28, 2.52, 2.48, 3.85)),
        Factor.GROUNDNESS: (
            (0.55, 1.25, 0.88, 3.68), (0.97, 1.28, 1.06, 3.9), (1.08, 1.48, 1.04, 3.74)),
        Factor.NATURALNESS: (
            (0.94, 2.29, 1.87, 3.93), (1.02, 2.22, 1.62, 3.63), (1.76, 1.68, 2.29, 3.76)),
        Factor.NOVELTY: (
            (1.47, 1.2, 1.37, 1.55), (1.85, 2.01, 2.0, 2.53), (2.02, 2.26, 2.57, 3.01)),
        Factor.PROACTIVENESS: (
            (0.12, 0.96, 0.42, 3.64), (0.31, 1.05, 0.72, 3.74), (0.51, 1.12, 0.69, 3.47)),
        Factor.RECOVERABILITY: (
            (1.06, 2.12, 1.05, 3.82), (1.26, 1.87, 1.41, 3.85), (1.22, 2.33, 1.11, 3.91)),
        Factor.SEMANTIC_RELEVANCE: (
            (0.67, 1.11, 1.46, 2.79), (0.47, 0.96, 1.27, 2.68), (0.52, 1.33, 1.33, 2.39)),
    },
    "redial": {
        Factor.APPROPRIATENESS: (
            (3.39, 3.79, 3.7, 4.0), (3.18, 3.77, 3.2, 3.99), (3.46, 3.95, 3.59, 4.0)),
        Factor.COHERENCE: (
            (1.17, 1.34, 0.77, 3.72), (1.26, 1.64, 1.25, 3.77), (1.35, 1.55, 0.69, 3.79)),
        Factor.DIVERSITY: (
            (3.13, 3.38, 3.4, 3.03), (2.47, 2.47, 2.11, 3.33), (3.3, 3.34, 3.05, 3.48)),
        Factor.EFFECTIVENESS: (
            (1.7, 2.33, 1.79, 3.69), (1.7, 2.12, 1.85, 3.71), (1.59, 2.03, 2.05, 3.74)),
        Factor.EXPLAINABILITY: (
            (0.1, 0.36, 0.26, 2.52), (0.07, 0.54, 0.28, 3.58), (0.36, 0.64, 0.49, 2.7)),
        Factor.GRAMMATICAL_CORRECTNESS: (
            (2.79, 2.92, 2.87, 3.9), (2.31, 2.78, 2.37, 3.86), (2.88, 3.24, 3.06, 3.81)),
        Factor.GROUNDNESS: (
            (1.75, 3.13, 1.97, 3.82), (1.92, 2.31, 1.71, 3.92), (2.69, 2.71, 2.57, 3.87)),
        Factor.NATURALNESS: (
            (2.73, 3.13, 2.68, 3.93), (2.53, 2.9, 2.52, 3.63), (2.9, 3.27, 2.81, 3.74)),
        Factor.NOVELTY: (
            (0.76, 0.25, 0.76, 1.12), (2.4, 2.25, 2.01, 2.66), (1.71, 1.33, 1.42, 2.64)),
        Factor.PROACTIVENESS: (
            (0.52, 1.07, 0.59, 3.67), (0.47, 1.01, 0.71, 3.65), (0.81, 1.26, 0.69, 3.43)),
        Factor.RECOVERABILITY: (
            (2.08, 2.05, 1.37, 3.8), (1.93, 2.16, 1.67, 3.85), (2.74, 2.22, 1.2, 3.85)),
        Factor.SEMANTIC_RELEVANCE: (
            (0.59, 1.37, 1.82, 2.72), (0.83, 1.45, 1.4, 2.83), (0.73, 1.56, 1.53, 2.9)),
    },
}  # fmt: skip

_LABELS = ("dialogue_overall", "understanding", "task_completion", "interest_arousal",
           "efficiency", "preference_elicitation", "explanation", "relevance",
           "interestingness")  # fmt: skip
_TEXT_FACTORS = (
    Factor.COHERENCE,
    Factor.RECOVERABILITY,
    Factor.PROACTIVENESS,
    Factor.GRAMMATICAL_CORRECTNESS,
    Factor.NATURALNESS,
    Factor.EXPLAINABILITY,
    Factor.GROUNDNESS,
)


class _Turn(BaseModel):
    role: Literal["USER", "ASST"]
    utterance: str
    turn_level_aggregated: dict[str, float] = {}


class _Dialogue(BaseModel):
    conv_id: str
    dialogue: list[_Turn]
    dial_level_aggregated: dict[str, float]

    def log(self) -> ConversationLog:
        """The dialogue as a log, without lists and targets: those are not recorded."""
        speakers = {"USER": Speaker.USER, "ASST": Speaker.SYSTEM}
        turns = (Turn(speaker=speakers[t.role], text=t.utterance) for t in self.dialogue)
        return ConversationLog(
            system=self.conv_id.split("_")[0],
            scenario=Scenario(corpus="crsarena-eval", record=self.conv_id),
            interaction=tuple(turns),
            ending=Ending.RECORDED,
        )

    def label(self, name: str) -> float | None:
        """A label of the dialogue, or the mean of a label of its turns."""
        if name in self.dial_level_aggregated:
            return self.dial_level_aggregated[name]
        labels = [t.turn_level_aggregated for t in self.dialogue]
        values = [found[name] for found in labels if name in found]
        return sum(values) / len(values) if values else None


class Correlation(NamedTuple):
    """Spearman's rho of a factor with a human label over `n` dialogues; None if undefined."""

    factor: str
    label: str
    rho: float | None
    n: int


def published(factor: Factor, corpus: str) -> list[float]:
    """The mean over the three published judge models, in the order of PAPER_SYSTEMS."""
    return [sum(column) / 3 for column in zip(*_PUBLISHED[corpus][factor], strict=True)]


def paper_order(factor: Factor, corpus: str, means: list[float | None]) -> str:
    """The measured and the published order in words, and Kendall's tau-b of the two."""
    from scipy.stats import kendalltau

    if any(value is None for value in means):
        return "unscored"
    ours = [value for value in means if value is not None]
    theirs = published(factor, corpus)
    if max(ours) == min(ours):
        return "constant"
    tau = float(kendalltau(ours, theirs).statistic)
    return f"{_order(ours)}; published {_order(theirs)}; tau {tau:+.2f}"


def _order(values: list[float]) -> str:
    ranked = sorted(zip(values, PAPER_SYSTEMS, strict=True), reverse=True)
    return " > ".join(f"{system} {value:.2f}" for value, system in ranked)


def correlate(data: Path) -> list[Correlation]:
    """Spearman of each text factor with each label of CRSArena-Eval; empty without the file.

    The labels of turns are averaged over the dialogue.
    """
    path = data / "crsarena-eval" / "crs_arena_eval.json"
    if not path.is_file():
        return []
    panels = {name: MeasuredPanel(open_corpus(name, data).catalogue) for name in _PUBLISHED}
    dialogues = TypeAdapter(list[_Dialogue]).validate_json(path.read_bytes())
    rated = [
        {rating.factor: rating.score for rating in panels[corpus].measure(dialogue.log())}
        for dialogue in dialogues
        for corpus in [dialogue.conv_id.split("_")[1]]
    ]
    return [
        _spearman(factor, [r[factor] for r in rated], label, [d.label(label) for d in dialogues])
        for factor in _TEXT_FACTORS
        for label in _LABELS
    ]


def _spearman(
    factor: Factor, scores: list[float | None], label: str, values: list[float | None]
) -> Correlation:
    from scipy.stats import spearmanr

    pairs = [
        (score, value)
        for score, value in zip(scores, values, strict=True)
        if score is not None and value is not None
    ]
    ours, theirs = [p[0] for p in pairs], [p[1] for p in pairs]
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        return Correlation(factor.value, label, None, len(pairs))
    return Correlation(factor.value, label, float(spearmanr(ours, theirs).statistic), len(pairs))
