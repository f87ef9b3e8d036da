"""An evaluator that draws five samples of one rating, for the kills."""

from collections.abc import Sequence
from typing import ClassVar

from recjury.judges import Evaluator
from recjury.llm import Ask
from recjury.records import ConversationLog, Finding, Metric, Rating

PROMPT = (
    "How friendly is the system in this talk?\n{talk}\nAnswer with a whole number from 0 to 4:\n"
)


class Sampled(Evaluator):
    """The mean of five samples at temperature 0.6."""

    kind: str = "sampled"
    metrics: ClassVar[Sequence[Metric]] = (Metric(name="friendly", high=4),)

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        talk = "\n".join(turn.text for turn in log.interaction)
        said = await ask.rating(
            PROMPT.format(talk=talk), (0, 4), model="main", samples=5, temperature=0.6
        )
        return [
            Rating(
                metric="friendly",
                rater="main",
                score=said.value.score if said.value else None,
                status=said.status,
                reason=said.reason,
                calls=said.calls,
            )
        ]
