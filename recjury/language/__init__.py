"""The one place that reads what an utterance does: declared acts first, then a small model.

`read` tells the acts, wishes and items of a user's turn; `read_reply` how likely a system's reply
is broken. docs/language.md says how well, and docs/acts.md what each act means.
"""

from recjury.language.reader import read, read_acts, read_reply, read_sentences
from recjury.language.reading import Reading, ReplyCheck

__all__ = ["Reading", "ReplyCheck", "read", "read_acts", "read_reply", "read_sentences"]
