"""Chat messages as tokens of a local model's prompt. It imports transformers: import it late."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from recjury.errors import CallFailed
from recjury.llm.adaptation import SentMessage, alternating, without_system
from recjury.records import Message


def chat_tokens(
    tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message], name: str
) -> list[int]:
    """The tokens up to where the reply begins; roles are changed where the template refuses them.

    Raises CallFailed (permanent), which names the model `name`, if it refuses all forms.
    """
    plain: list[SentMessage] = [
        {"role": role, "content": "".join(parts)} for role, parts in messages
    ]
    reason: Exception | None = None
    for form in (plain, alternating(plain), alternating(without_system(plain))):
        try:
            ids: list[int] = tokenizer.apply_chat_template(
                form, add_generation_prompt=True, return_dict=False
            )
        except Exception as error:
            reason = error
            continue
        return ids
    assert reason is not None
    first = str(reason).strip().partition("\n")[0] or type(reason).__name__
    raise CallFailed(
        f"{name}: the chat template refuses the prompt: {first}", permanent=True
    ) from reason
