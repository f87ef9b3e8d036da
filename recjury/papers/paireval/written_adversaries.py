"""Replies that look fitting and are not, written by a model, as an analysis."""

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

import orjson
from pydantic import Field

from recjury.campaign.model_work import ModelWork, config_of, do_with_models, models_asked
from recjury.corpora.dialogues import read_dialogues
from recjury.corpora.leakage import rated_histories
from recjury.corpora.response_sets import sets_folder
from recjury.llm import MAIN_MODEL, Gateway
from recjury.papers.paireval.adversaries import (
    REPLIES,
    Adversaries,
    AdversaryWriter,
    asked_for,
    contexts,
    expected_writing,
)
from recjury.records import ExpectedCalls
from recjury.tables import Analysis, AnalysisInput, Column, Findings, Input, table_of


class WrittenAdversaries(Analysis):
    """Replies that look fitting and are not, written by a model, to train with.

    The file has the form of DailyDialog++. Contexts with a history of a rated set are left out.
    """

    source: ClassVar[str] = "PairEval, section 4.3.4"
    needs: ClassVar[tuple[Input, ...]] = (Input.CONFIG, Input.DATA)
    calls: ClassVar[str] = "one for each context"

    model: str = Field(MAIN_MODEL, description="the model that writes, by alias")
    corpus: str = Field("dailydialog.train", description="the dialogues whose contexts are used")
    number: int = Field(1_000, ge=1, description="how many contexts")
    replies: int = Field(REPLIES, ge=1, le=20, description="replies for each context")
    seed: int = Field(0, ge=0, description="of the drawn contexts")

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """A call for each context. Raises UserError."""
        config = config_of(given)
        models_asked(config, [self.model])
        attempts = config.attempts
        return [expected_writing(self.model, self.number, attempts, replies=self.replies)]

    async def run(self, given: AnalysisInput) -> Findings:
        """adversaries.jsonl, and how many contexts and replies it has."""
        config, folder = config_of(given), sets_folder(given.data)
        histories = rated_histories(folder)
        dialogues = (turns for _, turns in read_dialogues(folder, self.corpus))
        untested = (own for own in dialogues if not histories.are_in([turn.text for turn in own]))
        chosen = contexts(untested, self.number, self.seed)

        async def do(gateway: Gateway) -> list[Adversaries]:
            return await AdversaryWriter(gateway, self.model, replies=self.replies).write(chosen)

        models = {"models": models_asked(config, [self.model])}
        what = {**asked_for(chosen, replies=self.replies), **models}
        written = await do_with_models(
            ModelWork("paireval adversaries", what, do), config, given.store
        )
        made = [each for each in written if each.replies]
        counts = {"contexts": len(made), "replies": sum(len(each.replies) for each in made)}
        lines = b"".join(orjson.dumps(each.as_json()) + b"\n" for each in made)
        return Findings(
            tables=(table_of("written", [Column(name) for name in counts], [counts]),),
            files={"adversaries.jsonl": lines},
            problems=Counter(each.reason for each in written if not each.replies),
        )
