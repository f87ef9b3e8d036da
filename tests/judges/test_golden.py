"""The prompts of aspects, PairEval and dialogue quality, against golden files.

`python -m tests.judges.test_golden` writes the golden files.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from recjury.corpora import Context
from recjury.judges import (
    DialogueQuality,
    Direct,
    Evaluator,
    Face,
    GEval,
    PairEval,
    Rubric,
)
from recjury.records import Request
from tests.judges import likely
from tests.logs import CATALOGUE, LOG, ask_of, log_of, said

HERE = Path(__file__).parent / "golden"
RATED = """\
USER\tA slow crime film from France?\t\t4
SYSTEM\tTry Le Samourai.\t\t
USER\tPerfect, thank you!\t\t5
USER\tOVERALL\t\t5
"""
ASPECTS = ("relevance", "task_completion")
PAIR = {"number": 1}
QUALITY: Mapping[str, Mapping[str, Any]] = {
    "logits": {"examples": {"number": 1, "file": "rated.txt"}},
    "analysis-first": {"method": "generation", "level": "turn"},
    "rating-first": {"method": "generation", "order": "rating-first", "level": "turn"},
}

CRITERIA: list[dict[str, Any]] = [
    {
        "name": "Fit",
        "definition": "Does it fit?",
        "anchors": {0: "No.", 1: "Yes."},
        "scale": [0, 1],
        "steps": ["Look.", "Decide."],
        "inputs": ["list", "target"],
    },
    {"name": "Tone", "definition": "Is it kind?", "anchors": {}, "between": True, "level": "turn"},
]


def other_dialogue(corpus: str, split: str) -> Any:
    return [LOG.interaction[::-1]]


PACKS: dict[str, Callable[[], list[Evaluator]]] = {
    "face": lambda: [
        Face(aspects=ASPECTS, samples=1),
        Direct(aspects=ASPECTS, examples=2, reasons=True),
        GEval(aspects=ASPECTS, logprobs=False, samples=1),
    ],
    "paireval": lambda: [PairEval.model_validate({"examples": PAIR}), PairEval(method="direct")],
    "dialogue-quality": lambda: [DialogueQuality.model_validate(each) for each in QUALITY.values()],
    "rubric": lambda: [Rubric.model_validate({"criteria": CRITERIA, "language": "English"})],
}


def reply(request: Request, code: str) -> Any:
    prompt = said(request)
    if "into particles" in prompt:
        particle = {"act": "recommendation", "mention": "Alien?", "feedback": "No"}
        return json.dumps({"code": code, "particles": [particle]})
    if request.shape is not None and request.shape.kind == "odds":
        return likely.word(dict.fromkeys(request.shape.choices, 0.1))
    return f'It is so. <rating code="{code}">1</rating>'


def golden(name: str) -> str:
    """All prompts about a log with one turn of the system."""
    ask, model = ask_of(likely.sending(reply))
    log = log_of(*LOG.interaction[:2])
    for evaluator in PACKS[name]():
        ready = evaluator.prepared(Context({"sample": CATALOGUE}, {}, other_dialogue))
        asyncio.run(ready.rate(log, ask))
    asked = [each for each in model.requests if not likely.is_probe(each)]
    texts = [said(each).replace(_code(each) or "CODE", "CODE") for each in asked]
    return "".join(f"===== {number}\n{text}\n" for number, text in enumerate(texts, 1))


def _code(request: Request) -> str:
    text = said(request)
    for before, after in (('<rating code="', '"'), ('a key "code" with the value "', '"')):
        if before in text:
            return text.rpartition(before)[2].partition(after)[0]
    return ""


@pytest.mark.parametrize("name", PACKS)
def test_the_prompts_are_the_golden_ones(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rated.txt").write_text("\n".join([RATED] * 9), "utf-8")
    monkeypatch.chdir(tmp_path)
    assert golden(name) == (HERE / f"{name}.txt").read_text("utf-8"), (
        "A prompt has changed. If no file of its pack has, raise RENDERING of the evaluator, since "
        "identities have it and the packs' digests; then write the golden files anew."
    )
    kinds = (Face, Direct, GEval, PairEval, DialogueQuality)
    assert [kind.RENDERING for kind in kinds] == [1, 1, 1, 1, 2]


if __name__ == "__main__":
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rated.txt").write_text("\n".join([RATED] * 9), "utf-8")
        os.chdir(folder)
        for each in PACKS:
            (HERE / f"{each}.txt").write_text(golden(each), "utf-8")
