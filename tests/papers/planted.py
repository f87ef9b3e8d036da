"""Labels of twenty dialogues, and a model that rates well under one planted instruction alone."""

import json
import re
from zlib import crc32

from recjury.agreement import Labels, labels_of
from recjury.corpora import Recording
from recjury.records import Request

GOOD = "Step 1: Does the user welcome the particle?"
POOR = "Step 1: Is the particle long?"


def labels() -> Labels:
    rows, recordings = [], []
    for number in range(20):
        id_, quality = f"d{number}", number % 3
        said = [
            {"speaker": "user", "text": f"I want a film, number {number}."},
            {"speaker": "system", "text": f"Take number {number} of quality {quality}."},
        ]
        recordings.append(Recording.model_validate({"id": id_, "system": "s", "interaction": said}))
        rows += [
            (id_, -1, "understanding", rater, quality + 1, "planted", "s", id_) for rater in "ab"
        ]
    return labels_of("planted", rows, recordings)


def scripted(request: Request, code: str) -> str:
    prompt = "\n".join(message.text for message in request.messages)
    quality = int(re.findall(r"of quality (\d)", prompt)[-1])
    if "into particles" in prompt:
        mention = re.findall(r"Take number \d+ of quality \d\.", prompt)[-1]
        particle = {"act": "recommendation", "mention": mention, "feedback": None}
        return json.dumps({"particles": [particle], "code": code})
    lot = crc32(f"{prompt.partition('<words>')[2][:40]}{request.sample}".encode())
    if "You improve the instructions" in prompt:
        text = GOOD if lot % 4 == 0 else f"{POOR} Think of {lot % 97}."
        return json.dumps({"critique": "It is vague.", "instructions": text, "code": code})
    score = quality if GOOD in prompt else lot % 3
    return f'<rating code="{code}">{score}</rating>'
