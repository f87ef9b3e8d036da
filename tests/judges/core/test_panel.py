"""The panel: twelve at once, routes, means, and which judge the debate gets its ratings from."""

import asyncio

import pytest

from recjury.debate import RatedLog, run_debate
from recjury.debate.llm_debaters import LlmDebaters
from recjury.errors import ConfigError, ProviderError
from recjury.judges.core.panel import Panel
from recjury.llm import Completion, EndpointSpec, Gateway, ScriptedModel
from recjury.records import MEAN, ChatRequest, Factor, Role, Status
from tests.endpoint import Body, ScriptedEndpoint
from tests.judges.cases import SPEC, MemoryRecorder, a_log, gateway_of, ratings_of


def by_model(request: ChatRequest) -> str:
    return {"strict": "<rating>1</rating>", "kind": "<rating>4</rating>"}.get(request.model, "?")


def test_one_model_rates_all_twelve() -> None:
    gateway, model = gateway_of(lambda _: "Fine. <rating>3</rating>")
    panel = Panel(gateway, ["judge"])
    ratings = asyncio.run(panel.rate(a_log())).ratings
    assert [rating.factor for rating in ratings] == list(Factor)
    assert {rating.score for rating in ratings} == {3}
    assert {request.purpose for request in model.requests} == {f"judge/{f}" for f in Factor}
    assert panel.debate_ratings(ratings) == ratings


def test_twelve_are_asked_at_the_same_time() -> None:
    arrived: list[Body] = []
    all_there = asyncio.Event()

    async def wait_for_all(body: Body) -> str:
        arrived.append(body)
        if len(arrived) == 12:
            all_there.set()
        await all_there.wait()
        return "<rating>3</rating>"

    async def scored() -> int:
        with ScriptedEndpoint(wait_for_all) as endpoint:
            spec = EndpointSpec(base_url=endpoint.url, name="scripted", timeout=20, retries=0)
            async with Gateway({"judge": spec}, MemoryRecorder()) as gateway:
                ratings = (await Panel(gateway, ["judge"]).rate(a_log())).ratings
        return sum(rating.score == 3 for rating in ratings)

    assert asyncio.run(scored()) == 12


def test_routes_give_each_factor_one_judge() -> None:
    gateway, _ = gateway_of(by_model, "strict", "kind")
    panel = Panel(gateway, ["strict"], routes={Factor.NOVELTY: "kind"})
    ratings = asyncio.run(panel.rate(a_log())).ratings
    assert len(ratings) == 12
    assert {r.factor for r in ratings if r.evaluator == "kind"} == {Factor.NOVELTY}
    assert panel.debate_ratings(ratings) == ratings


def test_several_judges_have_a_mean_and_one_is_the_source_judge() -> None:
    gateway, _ = gateway_of(by_model, "strict", "kind")
    panel = Panel(gateway, ["strict", "kind"], source_judge="kind")
    ratings = asyncio.run(panel.rate(a_log())).ratings
    assert len(ratings) == 36
    assert {r.score for r in ratings if r.evaluator == MEAN} == {2.5}
    assert {(r.evaluator, r.score) for r in panel.debate_ratings(ratings)} == {("kind", 4)}
    assert len(panel.debate_ratings(ratings)) == 12


def test_a_mean_is_over_the_judges_that_scored_and_says_so() -> None:
    gateway, _ = gateway_of(by_model, "strict", "mute")
    ratings = asyncio.run(Panel(gateway, ["strict", "mute"]).rate(a_log())).ratings
    means = [rating for rating in ratings if rating.evaluator == MEAN]
    assert {(r.score, r.rationale) for r in means} == {(1.0, "strict 1, mute none")}
    gateway, _ = gateway_of(by_model, "mute", "dumb")
    ratings = asyncio.run(Panel(gateway, ["mute", "dumb"]).rate(a_log())).ratings
    assert {(r.score, r.status) for r in ratings} == {(None, Status.UNREADABLE)}


def test_the_source_judge_is_the_first_unless_named() -> None:
    gateway, _ = gateway_of(by_model, "strict", "kind")
    panel = Panel(gateway, ["strict", "kind"])
    ratings = asyncio.run(panel.rate(a_log())).ratings
    assert {rating.evaluator for rating in panel.debate_ratings(ratings)} == {"strict"}


@pytest.mark.parametrize(
    ("models", "source_judge", "said"),
    [
        ((), None, "at least one model"),
        (("a", "a"), None, "named once"),
        (("mean",), None, "the mean of several"),
        (("a", "measured"), None, "judges without a model"),
        (("a", "b"), "c", "feeds must name one"),
    ],
)
def test_a_panel_that_makes_no_sense(
    models: tuple[str, ...], source_judge: str | None, said: str
) -> None:
    gateway, _ = gateway_of([], "a", "b")
    with pytest.raises(ConfigError, match=said):
        Panel(gateway, models, source_judge=source_judge)


class _OneRefuses(ScriptedModel):
    """Refuses one request once all others are on their way, and never answers those."""

    def __init__(self, others: int):
        super().__init__(())
        self._others = others
        self.left_alone = 0

    async def complete(self, request: ChatRequest) -> Completion:
        if self._others == 0:
            raise ProviderError("no key")
        self._others -= 1
        try:
            await asyncio.Event().wait()
        finally:
            self.left_alone += 1
        raise AssertionError


@pytest.mark.parametrize("debate", [False, True])
def test_a_refusal_ends_the_calls_beside_it(debate: bool) -> None:
    others = 3 if debate else 11

    async def act() -> int:
        model = _OneRefuses(others)
        gateway = Gateway({"judge": SPEC}, MemoryRecorder(), providers={"judge": model})
        debaters = LlmDebaters(gateway, dict.fromkeys(Role, "judge"))
        panel = Panel(gateway, ["judge"])
        with pytest.raises(ProviderError):
            await (
                run_debate(RatedLog(a_log(), ratings_of()), debaters)
                if debate
                else panel.rate(a_log())
            )
        return model.left_alone

    assert asyncio.run(act()) == others
