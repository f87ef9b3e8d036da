"""The whole of FACE over HTTP, against a server that says what was released."""

import asyncio
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.face_coverage import coverage_of
from benchmarks.face_released import Released, completion
from recjury.campaign import Retry, RunResult
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.judge_existing import judge_logs
from recjury.corpora.crsarena import CrsArena, read_crsarena
from recjury.corpora.crsarena_run_file import read_run_file
from recjury.corpora.crsarena_runs import read_runs, run_lines
from recjury.corpora.writing import write_file
from recjury.judges import Evaluator
from recjury.judges.direct import DirectEvaluator
from recjury.judges.face.evaluator import FaceEvaluator
from recjury.judges.face.instructions import read_instruction_folder
from recjury.judges.face.stored_results import read_results
from recjury.llm import EndpointSpec
from recjury.papers.face.face_scores import FaceScores, scores_of_files
from recjury.papers.face.scorings import scorings_of_store
from recjury.papers.face.stored_scores import (
    pooled_scores,
    problems_of,
    read_scored,
    score_files,
    scores_by_instruction,
)
from recjury.papers.face.table1 import face_rows
from recjury.records import Aspect, ConversationLog, Status
from recjury.store import EvaluationResult, Store
from recjury.tables import AnalysisInput
from tests.corpora.arena import count_faults, write_lines
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint

ASPECTS = (Aspect.RELEVANCE, Aspect.DIALOGUE_OVERALL)


class Arena(NamedTuple):
    """The released data, and twenty of its dialogues."""

    folder: Path
    people: CrsArena
    logs: list[ConversationLog]
    model: Released

    @property
    def face(self) -> FaceEvaluator:
        """The released instructions on two aspects."""
        return FaceEvaluator(aspects=ASPECTS, instructions=str(self.folder / "face-instructions"))

    @property
    def by_rule(self) -> FaceEvaluator:
        """The same with particles by rule, and one sample."""
        return self.face.model_copy(update={"rules": True, "samples": 1})

    def script(self, body: Body) -> Answer:
        """What the released model would say."""
        messages, n = body["messages"], body.get("n", 1)
        assert isinstance(messages, list)
        assert isinstance(n, int)
        return completion(self.model.texts(messages, n), "scripted")


@pytest.fixture(scope="module")
def arena(data_folder: Path) -> Arena:
    """Every 24th dialogue, and those that lack a label, a score or all scores."""
    folder = data_folder / "crsarena-eval"
    people = read_crsarena(folder / "crs_arena_eval.json")
    odd = ("chatgpt_opendialkg_4ef780c9", "barcor_opendialkg_5f8abdf2", "kbrd_redial_bd9abd71")
    chosen = [log for name, log in people.logs.items() if name.startswith(odd)]
    chosen += [log for log in list(people.logs.values())[::24] if log not in chosen]
    return Arena(folder, people, chosen[:20], Released(folder, ASPECTS))


def _score(
    arena: Arena,
    endpoint: ScriptedEndpoint,
    path: Path,
    evaluator: Evaluator,
    retry: Retry = Retry.UNSCORED,
) -> RunResult:
    config = EvaluationConfig(
        model=EndpointSpec(base_url=endpoint.url, name="scripted", retries=0),
        evaluators=(evaluator,),
        concurrency=64,
    )
    with Store.open(str(path)) as store:
        return asyncio.run(judge_logs(arena.logs, config, store, retry=retry))


def _finished(store: Store) -> list[EvaluationResult]:
    return [each for held in store.results() for each in held.evaluations]


@pytest.mark.long
def test_twenty_dialogues_over_http_give_the_table_of_the_released_scores(
    arena: Arena, tmp_path: Path
) -> None:
    with ScriptedEndpoint(arena.script) as endpoint:
        result = _score(arena, endpoint, tmp_path / "runs.db", arena.face)
        asked = len(endpoint.bodies)
        assert (result.planned, result.done, result.failed) == (20, 20, 0)
        # What is done is not asked for again.
        again = _score(arena, endpoint, tmp_path / "runs.db", arena.face, Retry.NONE)
        assert (again.done, len(endpoint.bodies)) == (20, asked)
    assert {body.get("n") for body in endpoint.bodies} <= {3, 5, None}
    with Store.open(str(tmp_path / "runs.db")) as store:
        scored = list(read_scored(store))
        assert all(store.integrity(each.evaluation) == () for each in _finished(store)[:3])

    mine = {log.scenario.record for log in arena.logs}
    released = {
        aspect: {place: own for place, own in run.turns.items() if place.conversation in mine}
        for aspect, run in read_runs(arena.folder / "face-runs").items()
        if aspect in ASPECTS
    }
    for aspect, turns in released.items():
        write_file(tmp_path / "released" / f"{aspect}.jsonl", run_lines(turns.items()))
    labels = arena.folder / "crs_arena_eval.json"
    expected = face_rows(scores_of_files(tmp_path / "released", labels))
    assert face_rows(FaceScores(pooled_scores(scored), arena.people, (), {})) == expected
    assert min(row.correlation.n for row in expected if row.aspect is Aspect.RELEVANCE) > 20

    # The same again by way of files of scores, and of a run file.
    for aspect, given in scores_by_instruction(scored).items():
        write_file(tmp_path / "own" / f"{aspect}.jsonl", run_lines(given.items()))
    assert face_rows(scores_of_files(tmp_path / "own", labels)) == expected
    run = tmp_path / "run.json"
    run.write_bytes(score_files(scored)["run.json"])
    assert read_run_file(run) == (pooled_scores(scored), ())
    assert face_rows(scores_of_files(run, labels)) == expected

    # One dialogue has no particle at all; one turn has no sample that can be read.
    covered = coverage_of(scored)[Aspect.DIALOGUE_OVERALL]
    assert (covered.places, covered.scored_places) == (20, 19)
    relevance = coverage_of(scored)[Aspect.RELEVANCE]
    assert relevance.scored_places < relevance.places
    assert relevance.samples - relevance.read_samples == 5 * 16 * (
        relevance.particles - relevance.scored_particles
    )
    faults = count_faults(problems_of(scored))
    assert faults["missing sample"] == 16 * (relevance.particles - relevance.scored_particles)


def test_the_store_explains_a_score_with_the_call_behind_each_sample(
    arena: Arena, tmp_path: Path
) -> None:
    one = arena._replace(logs=arena.logs[3:4])
    with ScriptedEndpoint(arena.script) as endpoint:
        _score(one, endpoint, tmp_path / "runs.db", arena.face)
    with Store.open(str(tmp_path / "runs.db")) as store:
        name = one.logs[0].scenario.record
        given = AnalysisInput(store=str(tmp_path / "runs.db"))
        _, scoring, found = scorings_of_store(given).explain(name[:24], Aspect.DIALOGUE_OVERALL)
        (evaluation,) = _finished(store)
        (rating,) = (r for r in evaluation.ratings if r.turn is None)
        assert found.score == rating.score
        by = scoring.scores[0].by[0]
        assert by.call is not None
        call = store.call(by.call)
        said = [reply.text for reply in call.reply.each()]
        code = call.reply.code
        assert said == [f'<rating code="{code}">{sample}</rating>' for sample in by.samples]
        assert call.request.purpose == f"face/dialogue_overall/{by.instruction}"


def test_what_fails_is_left_to_do_and_nothing_else_is_asked_again(
    arena: Arena, tmp_path: Path
) -> None:
    one = arena._replace(logs=arena.logs[3:4])
    failing = True

    def script(body: Body) -> Answer:
        text = str(body["messages"])
        if failing and "overall impression" in text and 'number="0"' in text:
            return Fault("status", status=500, text="no")
        return arena.script(body)

    with ScriptedEndpoint(script) as endpoint:
        _score(one, endpoint, tmp_path / "runs.db", arena.face)
        with Store.open(str(tmp_path / "runs.db")) as store:
            (evaluation,) = _finished(store)
            assert set(evaluation.failures) == {"dialogue_overall"}
            assert evaluation.stages == {"particles", "relevance"}
            assert set(read_results(store.stage_results(evaluation.evaluation)).scores) == {
                Aspect.RELEVANCE
            }
        refused = sum('number="0"' in str(b) and "overall" in str(b) for b in endpoint.bodies)
        before = len(endpoint.bodies)
        failing = False
        _score(one, endpoint, tmp_path / "runs.db", arena.face)
        assert len(endpoint.bodies) == before + refused
        with Store.open(str(tmp_path / "runs.db")) as store:
            (evaluation,) = _finished(store)
            assert evaluation.stages == {"particles", *ASPECTS}
            assert evaluation.failures == {}


def test_a_turn_that_was_not_decomposed_is_asked_for_again_and_rated(
    arena: Arena, tmp_path: Path
) -> None:
    one = arena._replace(logs=arena.logs[3:4])
    mumbles = True
    lost: set[str] = set()

    def script(body: Body) -> Answer:
        messages = body["messages"]
        assert isinstance(messages, list)
        said = str(messages[-1]["content"])
        is_decomposed = len(messages) == 1
        if mumbles and is_decomposed and (not lost or _turn(said) in lost):
            lost.add(_turn(said))
            return "Hm."
        return arena.script(body)

    def _turn(said: str) -> str:
        return said.partition("Your last reply")[0].strip()

    with ScriptedEndpoint(script) as endpoint:
        _score(one, endpoint, tmp_path / "runs.db", arena.face)
        with Store.open(str(tmp_path / "runs.db")) as store:
            (before,) = _finished(store)
            unread = [r for r in before.ratings if r.score is None]
            assert [(r.factor, r.status) for r in unread] == [(Aspect.RELEVANCE, Status.UNREADABLE)]
            first = read_results(store.stage_results(before.evaluation))
        asked = len(endpoint.bodies)
        mumbles = False
        _score(one, endpoint, tmp_path / "runs.db", arena.face, Retry.FAILED)
        assert len(endpoint.bodies) == asked
        _score(one, endpoint, tmp_path / "runs.db", arena.face)
        again = endpoint.bodies[asked:]
    with Store.open(str(tmp_path / "runs.db")) as store:
        (now,) = _finished(store)
        assert store.attempts(now.evaluation) == (before.evaluation, now.evaluation)
        assert [r for r in now.ratings if r.score is None] == []
        assert read_results(store.stage_results(before.evaluation)) == first
        found = read_results(store.stage_results(now.evaluation)).decomposition
        assert first.decomposition is not None
        assert found is not None
        new = len(
            [p for t, o in zip(found.turns, first.decomposition.turns, strict=True)
             if o.status is not Status.SCORED for p in t.particles]
        )  # fmt: skip
        assert store.integrity(now.evaluation) == store.integrity(before.evaluation) == ()
    instructions = read_instruction_folder(arena.folder / "face-instructions")
    scored = [body for body in again if len(list(body["messages"])) > 1]  # type: ignore[call-overload]
    assert len(scored) == new * sum(len(instructions[aspect]) for aspect in ASPECTS)


def test_rules_and_the_evaluators_beside_it_run_the_same_way(arena: Arena, tmp_path: Path) -> None:
    few = arena._replace(logs=arena.logs[3:5])
    with ScriptedEndpoint(lambda body: "<rating>1</rating>") as endpoint:
        assert _score(few, endpoint, tmp_path / "runs.db", arena.by_rule).done == 2
        direct = DirectEvaluator(aspects=ASPECTS)
        assert _score(few, endpoint, tmp_path / "runs.db", direct).done == 2
        asked = len(endpoint.bodies)
        assert _score(few, endpoint, tmp_path / "runs.db", direct).done == 2
        assert len(endpoint.bodies) == asked
    with Store.open(str(tmp_path / "runs.db")) as store:
        faces = [each.face.decomposition for each in read_scored(store)]
        assert {face.decomposer for face in faces if face} == {"rule"}
        scored = list(read_scored(store, kind="llm-direct"))
        assert {r.evaluator for each in scored for r in each.ratings} == {"llm-direct/main"}
        assert {r.score for each in scored for r in each.ratings} == {1}
        direct_ones = [each for each in _finished(store) if each.label == "llm-direct"]
        assert {each.stages for each in direct_ones} == {frozenset(ASPECTS)}


def test_a_run_file_with_faults_is_read_with_their_places(tmp_path: Path) -> None:
    turn = {"turn_ind": 1, "turn_level_pred": {"relevance": 3, "understanding": 1}}
    whole = {"efficiency": None, "understanding": "x", "dialogue_overall": 2.5}
    row = {"conv_id": "a_redial_1", "turns": [turn], "dial_level_pred": whole}
    path = write_lines(tmp_path / "run.json", [[row]])  # type: ignore[list-item]  # one line: a list
    scores, problems = read_run_file(path)
    assert [str(problem) for problem in problems] == [
        "a_redial_1, efficiency: has no score",
        "a_redial_1, understanding: the score 'x' is not a number",
        "a_redial_1, turn 1, relevance: the score 3 is outside 0 to 2",
        "a_redial_1, turn 1, understanding: is not an aspect of this level",
    ]
    assert sorted(scores) == [Aspect.DIALOGUE_OVERALL, Aspect.RELEVANCE]


def test_other_instructions_are_another_version_and_another_aspect_is_not(
    arena: Arena, tmp_path: Path
) -> None:
    few = arena._replace(logs=arena.logs[3:4])
    changes: tuple[dict[str, object], ...] = (
        {"aspects": ASPECTS[:1]},
        {"aspects": ASPECTS[1:]},
        {"instructions": None},
    )
    with ScriptedEndpoint(lambda body: "<rating>1</rating>") as endpoint:
        ids = {
            _score(
                few, endpoint, tmp_path / "runs.db", arena.by_rule.model_copy(update=change)
            ).campaign
            for change in changes
        }
    assert len(ids) == 1
    with Store.open(str(tmp_path / "runs.db")) as store:
        own, both = store.evaluators(*ids)
        assert (own.label, both.label.partition("@")[0]) == ("face", "face")
        assert {metric.id for metric in both.metrics} == set(ASPECTS)
        first, second = read_scored(store)
        assert set(first.face.scores) == set(ASPECTS)
        assert set(second.face.scores) == set(ASPECTS)
