"""FACE: particles, scores under instructions, evidence, and the released scores."""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from scipy import stats

from recjury.errors import UserError
from recjury.judges import Face, face
from recjury.records import ConversationLog, Evidence, Rating, Request, Status, Turn
from tests.logs import LOG, ask_of, log_of, said

DATA = Path(os.environ.get("RECJURY_DATA", "nowhere")) / "crsarena-eval"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="RECJURY_DATA has no crsarena-eval")
PARTICLES = {
    "How about Alien?": [
        {
            "act": "Preference_Elicitation",
            "mention": "How about",
            "feedback": "NO_FEEDBACK_PROVIDED",
        },
        {"act": "recommendation", "mention": "alien?", "feedback": "No, I said crime."},
    ],
    "Then Heat, for its patience.": [
        {"act": "recommendation", "mention": "Then Heat, for its patience.", "feedback": "Yes"},
    ],
}


def scripted(request: Request, code: str) -> str:
    """The particles above; "Heat" deserves the highest score, and the rest 0."""
    prompt = said(request)
    if "into particles" in prompt:
        turn = prompt.partition("<rated_turn>")[2]
        found = next(some for text, some in PARTICLES.items() if text in turn)
        return json.dumps({"particles": found, "code": code})
    particle = prompt.partition("<words>")[2].partition("</words>")[0]
    high = int(prompt.rpartition("score from 0 to ")[2][0])
    return f'So. <rating code="{code}">{high if "Heat" in particle else 0}</rating>'


def rated(
    log: ConversationLog = LOG, script: Any = scripted, **settings: Any
) -> tuple[list[Rating], list[Evidence], list[Request]]:
    ask, model = ask_of(script)
    found = asyncio.run(Face.model_validate(settings).rate(log, ask))
    ratings = [each for each in found if isinstance(each, Rating)]
    return ratings, [each for each in found if isinstance(each, Evidence)], model.requests


def test_turns_and_dialogues_are_means_over_particles() -> None:
    ratings, evidence, _ = rated()
    scores = {(each.metric, each.turn): each.score for each in ratings}
    assert scores.pop(("relevance", 0)) == scores.pop(("interestingness", 0)) == 0
    assert (scores.pop(("relevance", 2)), scores.pop(("interestingness", 2))) == (3, 2)
    thirds = {each.name: pytest.approx((each.high or 0) / 3) for each in Face().metrics}
    assert scores == {(name, None): thirds[name] for name, _ in scores}
    assert len(evidence) == 7 * 3


def test_evidence_leads_to_the_words() -> None:
    _, evidence, _ = rated(aspects=["understanding"])
    first, second, third = (each.value for each in evidence)
    assert first["act"] == "preference elicitation"
    assert (first["feedback"], second["feedback"]) == (None, "No, I said crime.")
    start, end = second["span"]
    assert LOG.interaction[second["turn"]].text[start:end] == "Alien?"
    assert (third["turn"], third["by"], third["score"]) == (2, {"initial": 2}, 2)


def test_five_samples_at_the_papers_temperature() -> None:
    _, _, requests = rated(aspects=["understanding"])
    scores = [each for each in requests if "into particles" not in said(each)]
    assert {each.temperature for each in requests} == {0.6}
    assert len({said(each) for each in scores}) == 3
    ratings, _, _ = rated(aspects=["understanding"])
    assert len(ratings[0].calls) == 2 + 3 * 5


def test_without_a_further_user_turn_there_is_no_feedback() -> None:
    last = log_of(Turn(speaker="system", text="Then Heat, for its patience."))
    _, evidence, _ = rated(last, aspects=["understanding"])
    assert [each.value["feedback"] for each in evidence] == [None]


def instructions(folder: Path, aspect: str, texts: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [{"text": text, "iteration": number} for number, text in enumerate(texts, 40)]
    path = folder / f"{aspect}.json"
    path.write_text(json.dumps(rows), "utf-8")
    return path


def test_each_instruction_of_a_file_scores_each_particle(tmp_path: Path) -> None:
    file = instructions(tmp_path, "understanding", ["Be kind.", "Be <strict>."])

    def script(request: Request, code: str) -> str:
        if "into particles" in said(request):
            return scripted(request, code)
        return f'<rating code="{code}">{2 if "Be kind." in said(request) else 1}</rating>'

    ratings, evidence, requests = rated(
        script=script, instructions=str(file), aspects=["understanding"]
    )
    assert ratings[0].score == 1.5
    assert all(each.value["by"] == {"itr40": 2, "itr41": 1} for each in evidence)
    assert any("Be &lt;strict&gt;." in said(each) for each in requests)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"aspects": ["relevence"]}, "did you mean relevance"),
        ({"instructions": "understanding.json"}, "no instructions for relevance"),
        ({"instructions": "efficiency.json", "aspects": ["relevance"]}, "there are efficiency"),
        ({"instructions": "none.json", "aspects": ["none"]}, "there is no aspect 'none'"),
        ({"instructions": "nowhere"}, "there is no file or folder nowhere"),
        ({"instructions": "efficiency.json", "aspects": ["efficiency"]}, "instruction 1 has no"),
        ({"instructions": "twice", "aspects": ["efficiency"]}, "two instructions are called itr1"),
        ({"instructions": "empty", "aspects": ["efficiency"]}, "a list of instructions"),
        ({"instructions": "broken", "aspects": ["efficiency"]}, "is not JSON"),
        ({"samples": 0}, "samples"),
    ],
)
def test_wrong_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    instructions(tmp_path, "understanding", ["Be kind."])
    instructions(tmp_path, "efficiency", [" "])
    rows = [{"text": "a", "iteration": 1}, {"text": "b", "iteration": 1}]
    for name, text in {"twice": json.dumps(rows), "empty": "[]", "broken": "[{"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "efficiency.json").write_text(text, "utf-8")
    with pytest.raises((ValidationError, UserError), match=words):
        Face.model_validate(settings)


def test_what_cannot_be_read_is_no_score() -> None:
    def script(request: Request, code: str) -> str:
        if "How about Alien?" in said(request).partition("<rated_turn>")[2]:
            return "There are none."
        return scripted(request, code)

    ratings, _, _ = rated(script=script, aspects=["relevance", "understanding"])
    unreadable, readable, dialogue = ratings
    assert (unreadable.turn, unreadable.status) == (0, Status.UNREADABLE)
    assert (readable.turn, readable.score) == (2, 3)
    assert dialogue.status is Status.UNREADABLE
    failed = log_of(Turn(speaker="system", failure="no answer"))
    ratings, _, requests = rated(failed)
    assert {each.status for each in ratings} == {Status.NOT_APPLICABLE}
    assert not requests


Scores = dict[tuple[str, int | None], list[float]]


def released(aspect: str) -> tuple[Scores, Scores]:
    """The released scores under all instructions, by turn and by dialogue."""
    turns: Scores = defaultdict(list)
    dialogues: Scores = defaultdict(list)
    for line in (DATA / "face-runs" / f"{aspect}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        for turn, given in row["turns"].items():
            for by in given["particles"].values():
                turns[row["conv_id"], int(turn)] += by.values()
                dialogues[row["conv_id"], None] += by.values()
    return turns, dialogues


def labels() -> Iterator[tuple[str, tuple[str, int | None], float]]:
    for row in json.loads((DATA / "crs_arena_eval.json").read_text("utf-8")):
        for aspect, label in row["dial_level_aggregated"].items():
            yield aspect, (row["conv_id"], None), label
        for turn in row["dialogue"]:
            for aspect, label in turn.get("turn_level_aggregated", {}).items():
                yield aspect, (row["conv_id"], turn["turn_ind"]), label


@needs_data
def test_the_released_scores_give_the_run_file_and_the_published_correlations() -> None:
    ours = {}
    for metric in Face().metrics:
        turns, dialogues = released(metric.name)
        scores = turns if metric.level == "turn" else dialogues
        ours[metric.name] = {place: face(given) for place, given in scores.items() if given}

    for row in json.loads((DATA / "face_run.json").read_text("utf-8")):
        for aspect, theirs in row["dial_level_pred"].items():
            if (row["conv_id"], None) in ours[aspect]:
                assert ours[aspect][row["conv_id"], None] == pytest.approx(theirs, abs=1e-9)
        for turn in row["turns"]:
            for aspect, theirs in turn["turn_level_pred"].items():
                place = (row["conv_id"], turn["turn_ind"])
                assert ours[aspect].get(place, 0.0) == pytest.approx(theirs, abs=1e-9)

    pairs: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for aspect, place, label in labels():
        if place in ours.get(aspect, {}):
            subset = "RD" if "_redial_" in place[0] else "KG"
            pairs[subset, aspect].append((ours[aspect][place], label))
    published = json.loads((DATA / "baselines.json").read_text("utf-8"))
    assert len(pairs) == 14
    for (subset, aspect), both in pairs.items():
        said = published[f"CRSArena-Eval_{subset}"]["FACE"][aspect.replace("dialogue_", "dialog_")]
        found, given = [score for score, _ in both], [label for _, label in both]
        assert stats.pearsonr(found, given)[0] == pytest.approx(said["pearson_r"], abs=1e-3)
        assert stats.spearmanr(found, given)[0] == pytest.approx(said["spearman_rho"], abs=1e-3)


@needs_data
def test_the_released_instructions_are_read() -> None:
    assert len(Face(instructions=str(DATA / "face-instructions")).metrics) == 7
