"""A model that says what FACE's model said: the released particles, and the released scores.

It is asked by prompt, as any model is: whatever a prompt lacks or garbles is not found (KeyError).
A mean of five whole samples is answered as five whole samples with that mean.
"""

import functools
import html
import os
import re
from pathlib import Path
from typing import NamedTuple

import orjson

from recjury.corpora.crsarena import read_crsarena
from recjury.corpora.crsarena_particles import NO_FEEDBACK, read_crsarena_particles
from recjury.corpora.crsarena_runs import read_runs
from recjury.judges.face.face_prompts import FacePrompts, Situation, situation
from recjury.judges.face.instructions import read_instruction_folder
from recjury.records import Aspect, ScoreTarget
from tests.answers import in_form

UNSCORED = "There is nothing to be said about it."

_BLOCKS = re.compile(
    r"(?P<conversation><conversation>.*?</conversation>)\n\n"
    r"<(?:rated_)?turn>\n(?P<turn>.*?)\n</(?:rated_)?turn>\n\n"
    r"<users_answer>\n(?P<answer>.*?)\n</users_answer>",
    re.DOTALL,
)
_NUMBER = re.compile(r'<particle number="(\d+)">')
_INSTRUCTION = re.compile(r"<instructions>\n(.*?)\n</instructions>", re.DOTALL)
_TITLE = re.compile(r"What is rated is ([^:]+):")


class Asked(NamedTuple):
    """A particle under an instruction, as a prompt shows them."""

    place: ScoreTarget
    number: int
    aspect: Aspect
    instruction: str


class Released:
    """The folder `crsarena-eval` of the public data, by prompt."""

    def __init__(self, folder: Path, aspects: tuple[Aspect, ...] = tuple(Aspect)):
        """Read labels, particles, instructions, and the scores of `aspects`."""
        logs = read_crsarena(folder / "crs_arena_eval.json").logs
        particles = read_crsarena_particles(folder / "face-particles" / "run_particles.json")
        runs = read_runs(folder / "face-runs")
        instructions = read_instruction_folder(folder / "face-instructions")
        self._places: dict[Situation, ScoreTarget] = {}
        self._particles: dict[ScoreTarget, str] = {}
        for place, turn in particles.items():
            self._places[situation(logs[place.conversation], turn.turn)] = place
            rows = [
                {"act": p.act, "mention": p.mention, "feedback": p.feedback or NO_FEEDBACK}
                for p in turn.particles
            ]
            self._particles[place] = orjson.dumps({"particles": rows}).decode()
        assert len(self._places) == len(particles), "two turns have the same prompt"
        self._runs = {aspect: runs[aspect].turns for aspect in aspects}
        self._names = {
            aspect: {each.text.strip(): each.name for each in instructions[aspect]}
            for aspect in aspects
        }
        guides = FacePrompts().guides
        self._aspects = {guides[aspect].title: aspect for aspect in aspects}

    def texts(self, messages: list[dict[str, str]], n: int) -> list[str]:
        """`n` replies to a chat request; "ok" to one that only tries the connection."""
        asked = messages[-1]["content"]
        blocks = _BLOCKS.search(asked)
        if blocks is None:
            return ["ok"] * n
        place = self._places[Situation(*blocks.groups())]
        if len(messages) == 1:
            return [in_form(f"Particles:\n{self._particles[place]}", asked)] * n
        number = _NUMBER.search(asked)
        instruction = _INSTRUCTION.search(asked)
        title = _TITLE.search(messages[0]["content"])
        assert number is not None, asked
        assert instruction is not None, asked
        assert title is not None, asked
        aspect = self._aspects[title[1]]
        name = self._names[aspect][html.unescape(instruction[1]).strip()]
        samples = self._samples(Asked(place, int(number[1]), aspect, name), n)
        return [in_form(sample, asked) for sample in samples]

    def _samples(self, asked: Asked, n: int) -> list[str]:
        scores = self._runs[asked.aspect].get(asked.place, {}).get(asked.number)
        if scores is None:
            return [UNSCORED] * n
        low, more = divmod(round(scores[asked.instruction] * n), n)
        return [f"<rating>{low + (k < more)}</rating>" for k in range(n)]


@functools.cache
def released() -> Released:
    """The data that RECJURY_DATA names."""
    return Released(Path(os.environ["RECJURY_DATA"]) / "crsarena-eval")


def answer(body: dict[str, object]) -> dict[str, object]:
    """A script for `tests.endpoint`."""
    n = body.get("n", 1)
    messages = body["messages"]
    assert isinstance(n, int)
    assert isinstance(messages, list)
    return completion(released().texts(messages, n), str(body["model"]))


def completion(texts: list[str], model: str) -> dict[str, object]:
    """The response body."""
    choices = [
        {
            "index": k,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        for k, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 500, "completion_tokens": 6 * len(texts), "total_tokens": 0}
    return {"id": "c", "object": "chat.completion", "model": model, "usage": usage} | {
        "choices": choices
    }
