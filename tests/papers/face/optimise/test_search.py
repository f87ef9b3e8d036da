"""Algorithm 1 on a small world: it finds better instructions, and goes on where it was stopped."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from recjury.llm import EndpointSpec, Gateway, ScriptedModel
from recjury.papers.face.optimise.allowance import Allowance, StepFailed
from recjury.papers.face.optimise.call_estimate import estimate_calls
from recjury.papers.face.optimise.candidates import assignments, new_candidate
from recjury.papers.face.optimise.examples import Examples
from recjury.papers.face.optimise.gradient import Task
from recjury.papers.face.optimise.optimisation_report import OptimisationReport, build_report
from recjury.papers.face.optimise.rewrite import Rewriter
from recjury.papers.face.optimise.search import Search, Step
from recjury.papers.face.optimise.settings import OptimiserSettings
from recjury.records import CallRecord, ChatRequest, Reply
from tests.endpoint import Body
from tests.papers.face.optimise import world

SMALL = OptimiserSettings(
    iterations=3, beam=2, candidates=4, gradients=1, final=4, gradient_particles=12,
    sampled_particles=10,
)  # fmt: skip
TRAIN, VALIDATION = world.examples(30), world.examples(20, first=30)


class Memory:
    """A recorder in memory."""

    secret = b"of a test"

    def __init__(self) -> None:
        self.kept: dict[str, Reply] = {}
        self.purposes: Counter[str] = Counter()

    async def recall(self, identity: str) -> Reply | None:
        return self.kept.get(identity)

    async def record(self, call: CallRecord) -> None:
        self.kept[call.identity] = call.reply
        self.purposes[call.request.purpose] += 1


def answer(request: ChatRequest) -> str:
    said: Body = {"messages": [{"content": message.text} for message in request.messages]}
    reply = world.play(said)
    assert isinstance(reply, str)
    return reply


def search(
    memory: Memory,
    *,
    settings: OptimiserSettings = SMALL,
    max_calls: int | None = None,
    steps: list[Step] | None = None,
    script: Any = answer,
) -> OptimisationReport:
    async def run() -> OptimisationReport:
        spec = EndpointSpec(base_url="http://127.0.0.1:9/v1", name="scripted", retries=0)
        model = ScriptedModel(script)
        async with Gateway({"main": spec}, memory, providers={"main": model}) as gateway:
            allowance = Allowance(gateway, max_calls=max_calls)
            rewriter = Rewriter(
                allowance,
                "main",
                Task(world.ASPECT, "How good it is."),
                settings.gradients,
                settings.merged,
            )
            one = Search(
                settings,
                world.AskingScorer(allowance),
                rewriter,
                Examples(TRAIN, VALIDATION),
                world.INITIAL,
                allowance,
                watch=steps.append if steps is not None else lambda _: None,
            )
            return build_report(one, await one.run(), {})

    return asyncio.run(run())


@pytest.fixture(scope="module")
def whole() -> OptimisationReport:
    return search(Memory())


def test_it_finds_better_instructions(whole: OptimisationReport) -> None:
    best = whole.chosen[0]
    assert world.quality(best.text) > world.quality(world.INITIAL) + 0.15
    assert best.validation is not None
    assert whole.initial.validation is not None
    assert best.validation > whole.initial.validation
    assert whole.together is not None
    assert whole.together >= best.validation - 0.1


def test_the_pool_grows_by_the_candidates_of_each_iteration(whole: OptimisationReport) -> None:
    assert Counter(line.iteration for line in whole.pool) == {1: 4, 2: 4, 3: 4}
    assert sorted(line.index or 0 for line in whole.pool) == list(range(12))
    assert [line.rank for line in whole.chosen] == [1, 2, 3, 4]
    measured = [line.validation for line in whole.chosen]
    assert measured == sorted((v for v in measured if v is not None), reverse=True)


def test_ancestors_reach_back_to_the_initial_instruction(whole: OptimisationReport) -> None:
    by_id = {line.id: line for line in whole.instructions}
    for line in whole.instructions:
        assert line.parents[-1] == whole.initial.id
        assert len(line.parents) <= line.iteration
        assert all(by_id[parent].index is not None for parent in line.parents[:-1])
    assert max(len(line.parents) for line in whole.instructions) == 3


def test_the_beam_is_the_best_of_the_pool_so_far(whole: OptimisationReport) -> None:
    for iteration in (2, 3):
        pool = [line for line in whole.pool if line.iteration < iteration]
        best = sorted(pool, key=lambda line: -(line.train or 0))[:2]
        parents = {line.parents[0] for line in whole.instructions if line.iteration == iteration}
        assert parents <= {line.id for line in best}


def test_it_asks_no_more_than_was_estimated() -> None:
    memory = Memory()
    found = search(memory)
    most = estimate_calls(SMALL, TRAIN, VALIDATION)
    assert found.pulls == most.bandit_pulls == 3 * 5 * 6
    assert memory.purposes["face-optimise/dialogue_overall/1"] == 12
    assert sum(memory.purposes.values()) - memory.purposes["score"] == most.rewriting_calls
    assert memory.purposes["score"] <= most.scored
    assert most.scored_by_bandit == 90 * 10
    assert most.scored_in_training == 13 * 90
    assert most.scored_in_validation == 13 * 60


@pytest.mark.parametrize("calls", [1, 80, 97, 350, 900, 1400])
@pytest.mark.slow
def test_stopped_by_a_limit_it_goes_on_to_the_same_result(
    whole: OptimisationReport, calls: int
) -> None:
    memory = Memory()
    with pytest.raises(StepFailed, match="to continue here"):
        search(memory, max_calls=calls)
    assert sum(memory.purposes.values()) == calls
    resumed = search(memory)
    assert resumed == whole
    assert set(memory.purposes.elements()) == {"score", *_rewriting()}


def _rewriting() -> set[str]:
    return {f"face-optimise/dialogue_overall/{iteration}" for iteration in (1, 2, 3)}


def test_a_finished_run_asks_nothing(whole: OptimisationReport) -> None:
    memory = Memory()
    search(memory)
    asked = memory.purposes.copy()
    assert search(memory) == whole
    assert memory.purposes == asked


def test_unreadable_rewrites_are_left_out() -> None:
    def hardly(request: ChatRequest) -> str:
        said = answer(request)
        return said if request.purpose == "score" or "7" in said[-60:] else "I would rather not."

    found = search(Memory(), script=hardly)
    assert 0 < len(found.instructions) < 36
    with pytest.raises(StepFailed, match=r"no reply of the rewriting model had new"):
        search(
            Memory(),
            script=lambda request: answer(request) if request.purpose == "score" else "No.",
        )


def test_a_constant_rater_has_no_correlation() -> None:
    def constant(request: ChatRequest) -> str:
        return "2.0" if request.purpose == "score" else answer(request)

    found = search(Memory(), script=constant)
    assert {line.validation for line in found.instructions} == {None}
    assert found.together is None
    assert [line.index for line in found.chosen] == [0, 1, 2, 3]


def test_critique_and_rewrite_can_be_two_calls() -> None:
    settings = SMALL.model_copy(update={"merged": False, "iterations": 1})
    memory = Memory()
    found = search(memory, settings=settings)
    assert memory.purposes["face-optimise/dialogue_overall/1/critique"] == 12
    assert memory.purposes["face-optimise/dialogue_overall/1"] == 12
    assert all(line.critique == "It says too little." for line in found.instructions)
    assert all(len(line.calls) == 2 for line in found.instructions)


def test_steps_are_shown() -> None:
    steps: list[Step] = []
    search(Memory(), steps=steps)
    doing = [(step.iteration, step.doing) for step in steps if step.done == step.of]
    assert (1, "selecting") in doing
    assert (3, "evaluating") in doing
    assert (None, "validating") in doing


def test_every_particle_for_each_instruction_as_algorithm_1_reads() -> None:
    from random import Random

    beam = [new_candidate("a", 1), new_candidate("b", 1)]
    every = assignments(beam, 5, None, Random(0))
    assert [(one.parent.text, one.particle) for one in every] == [
        (text, place) for text in "ab" for place in range(5)
    ]
    some = assignments(beam, 5, 4, Random(0))
    assert Counter(one.parent.text for one in some) == {"a": 2, "b": 2}
    assert len({one.particle for one in some}) == 4
    assert len(assignments(beam, 5, 32, Random(0))) == 5
