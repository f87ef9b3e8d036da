"""What a system has said itself: where a generator looks lest it repeat a turn."""

from recjury.agents.neural.hearing import EncodedContext
from recjury.agents.neural.tokens import Tokens

# Two turns may share so many tokens in a row and one less, never this many: shorter bans break
# the set phrases of a small generator, longer ones let whole sentences through.
REPEAT_NGRAM = 4


def earlier_replies(
    heard: EncodedContext, tokens: Tokens, between: int, *, before: str = ""
) -> list[int]:
    """The ids of the system's earlier turns, written as it generates them.

    All turns count, also those that are too long ago to be read. `between` is the id that keeps
    two turns apart, `before` what a reply begins with.
    """
    said = (text for text in heard.context.utterances[1::2] if text)
    return [id_ for text in said for id_ in (*tokens.encode(before + text), between)]
