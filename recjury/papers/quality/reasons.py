"""Whether scores and their reasons agree (Jia et al., 2024, section 5.5)."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import ClassVar, NamedTuple

from recjury.campaign.model_work import ModelWork, config_of, do_with_models
from recjury.errors import ConfigError
from recjury.judges.dialogue_quality.evaluator import METRICS, QualityEvaluator
from recjury.judges.dialogue_quality.prompts import PACK, RATINGS
from recjury.llm import Gateway, Prompt, Question, RatingTag, ask, gather
from recjury.papers.quality.table3 import QualityTable3, findings_of
from recjury.papers.quality.uss_table import QualityRow, QualityTable
from recjury.prompts import fence, load_pack
from recjury.records import ExpectedCalls, Message, Rating, RatingSubject
from recjury.stats.correlation import spearman
from recjury.tables import AnalysisInput, Cell, Column, Findings, table_of

_READING = "dialogue-quality-reason"
_PROMPT, _REPLY = 450, 15  # tokens of a call, on average
_COLUMNS = (
    Column("evaluator"),
    Column("order"),
    Column("n"),
    Column("equal", "equal scores", 0, "%"),
    Column("gap", "mean difference, as an amount", 2),
    Column("lower", "reasons read lower", 0, "%"),
    Column("higher", "reasons read higher", 0, "%"),
    Column("spearman", "rho of the two", 2),
    Column("score_people", "score with people, rho", 2),
    Column("read_people", "reasons with people, rho", 2),
    Column("named", "reasons with the score's digit", 0, "%"),
    Column("unread", detail=True),
)


class ReadReason(NamedTuple):
    """A score, what was read from its reasons alone, people's mean rating, and whether the reasons
    have the score's digit."""

    score: float
    read: float
    label: float
    named: bool


class QualityReasons(QualityTable3):
    """Whether a score agrees with its reasons: a second, blind question reads the reasons alone.

    For evaluators that write reasons (`method: generation`), by order. The model that rated reads
    its own reasons at temperature 0, without the conversation and without its rating. Reasons that
    name the score are no blind test: their share is a column.
    """

    source: ClassVar[str] = "Jia et al. (2024), section 5.5"
    calls: ClassVar[str] = "two for each dialogue or turn, and evaluator"

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The calls of the evaluators, and one for each reason. Raises UserError."""
        asked = self._read(given)
        yield from asked.expected
        for entry, level, labelled in asked.rows:
            n = len(labelled) * entry.examples.draws
            most = asked.config.attempts * n
            yield ExpectedCalls(entry.model, f"{_READING}/{level}", n, most, _PROMPT, _REPLY)

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each evaluator. Calls that the store has are not made again."""
        asked = self._read(given)
        rating = asked.work

        async def rate_and_read(gateway: Gateway) -> list[tuple[QualityRow, list[Rating]]]:
            rows = await rating.do(gateway)
            models = {entry.label: entry.model for entry in asked.entries}
            return [(row, await _read_reasons(gateway, models[row.evaluator], row)) for row in rows]

        what = {**rating.what, "reasons": load_pack(_READING).identity()}
        work = ModelWork(f"{rating.name}, reasons", what, rate_and_read, given=rating.given)
        found = await do_with_models(work, asked.config, given.store)
        orders = {entry.label: entry.order for entry in asked.entries}
        cells = [{"order": orders[row.evaluator], **_cells(row, read)} for row, read in found]
        return findings_of([row for row, _ in found], table_of("reasons", _COLUMNS, cells))

    def _read(self, given: AnalysisInput) -> QualityTable:
        config = config_of(given)
        ours = (each for each in config.evaluators if isinstance(each, QualityEvaluator))
        writing = tuple(each for each in ours if each.method == "generation")
        if not writing:
            raise ConfigError(
                f"no evaluator of {given.config} writes reasons: give one `method: generation`, as "
                "in examples/recipes/quality.yaml"
            )
        return self.read_table(given, config.model_copy(update={"evaluators": writing}))


def _cells(row: QualityRow, ratings: Sequence[Rating]) -> dict[str, Cell]:
    answers = [(each.label, answer.rating) for each in row.rated for answer in each.answers]
    pairs = [
        ReadReason(rated.score, read.score, label, str(round(rated.score)) in rated.rationale)
        for (label, rated), read in zip(answers, ratings, strict=True)
        if rated.score is not None and read.score is not None
    ]
    cells: dict[str, Cell] = {"evaluator": row.evaluator, "n": len(pairs)}
    cells["unread"] = len(answers) - len(pairs)
    if not pairs:
        return cells
    scores, read, labels, _ = zip(*pairs, strict=True)
    return cells | {
        "equal": fmean(each.score == each.read for each in pairs),
        "gap": fmean(abs(each.score - each.read) for each in pairs),
        "lower": fmean(each.read < each.score for each in pairs),
        "higher": fmean(each.read > each.score for each in pairs),
        "spearman": spearman(scores, read),
        "score_people": spearman(scores, labels),
        "read_people": spearman(read, labels),
        "named": fmean(each.named for each in pairs),
    }


async def _read_reasons(gateway: Gateway, model: str, row: QualityRow) -> list[Rating]:
    """What is read from the reasons of each answer; without reasons, nothing."""
    pack, criteria = load_pack(_READING), load_pack(PACK)
    told = "".join(criteria.render("criteria", criteria=criteria.manifest["criteria"]))
    system = Message("system", pack.render("system"))
    subject = RatingSubject(
        evaluator=f"{_READING}/{model}",
        factor=METRICS[row.level],
        low=int(RATINGS[0]),
        high=int(RATINGS[-1]),
        rubric=pack.identity(),
    )

    async def read(rated: Rating) -> Rating:
        if rated.score is None or not rated.rationale:
            return rated.model_copy(update={"score": None})
        asked = pack.render("reason", reasons=fence(rated.rationale), criteria=told)
        question = Question(
            subject=subject,
            model=model,
            prompts=(Prompt((system, Message("user", asked))),),
            purpose=f"{_READING}/{row.level}",
            form=RatingTag(reasons=0, typical=_REPLY),
            temperature=0.0,
        )
        return (await ask(gateway, question)).rating

    answers = (answer.rating for each in row.rated for answer in each.answers)
    return await gather(map(read, answers))
