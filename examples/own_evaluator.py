"""An evaluator of one's own; own_evaluator.yaml rates with it."""

from collections.abc import Sequence

from recjury.judges import Evaluator
from recjury.llm import Ask
from recjury.records import ConversationLog, Finding, Metric, Rating


class Questions(Evaluator):
    """The share of system turns with a question. Its fields are its keys in a campaign file."""

    kind: str = "questions"
    mark: str = "?"

    @property
    def metrics(self) -> Sequence[Metric]:
        return [Metric(name="questions", title="Turns with a question", high=1)]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        texts = [turn.text for turn in log.interaction if turn.speaker == "system"]
        share = sum(self.mark in text for text in texts) / len(texts)
        return [Rating(metric="questions", rater="questions", score=share)]
