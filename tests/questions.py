"""Ask a model for the probabilities of words."""

from collections.abc import Iterable, Sequence

from recjury.llm import Answer, Prompt, Question, SupportsComplete, WordOdds, ask
from recjury.records import Message, RatingSubject


async def ask_odds(
    gateway: SupportsComplete,
    prompts: Iterable[tuple[Message, ...]],
    words: Sequence[str],
    *,
    model: str = "main",
) -> Answer:
    """The answer with the probabilities of `words`, which stand for 0, 1, 2 and so on."""
    return await ask(
        gateway,
        Question(
            subject=RatingSubject(evaluator=model, factor="test", high=len(words) - 1),
            model=model,
            prompts=map(Prompt, prompts),
            purpose="test",
            form=WordOdds({word: float(number) for number, word in enumerate(words)}),
        ),
    )
