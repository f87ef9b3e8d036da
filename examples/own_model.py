"""A model of one's own, here one that looks words up: `model: {provider: "own_model:Words", ...}`.

model: {provider: "own_model:Words", name: words, taste: crime}
"""

import re

from recjury.llm import Completion, OwnModel
from recjury.records import ChatRequest


class Words(OwnModel):
    """Rates by the number of times that its `taste` is named, in the form that is asked for."""

    taste: str

    def complete(self, request: ChatRequest) -> Completion:
        text = "".join(message.text for message in request.messages)
        code = re.findall(r'code="(\w+)"', text)
        rating = min(4, text.lower().count(self.taste))
        reply = f'<rating code="{code[-1]}">{rating}</rating>' if code else "I cannot say."
        return Completion(reply, prompt_tokens=len(text.split()), completion_tokens=4)
