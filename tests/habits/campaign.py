"""A small campaign against the server, and what of it differs from one without habits."""

import contextlib
import io
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

import yaml

from recjury.cli import main
from recjury.debate import OVERALL
from recjury.llm import SystemClock
from recjury.llm.endpoint_check import CHECK_PROMPT
from recjury.records import ConversationLog, Rating, Statement, Status, Turn
from recjury.store import Store
from tests.endpoint import ScriptedEndpoint
from tests.habits.meaning import PLAINLY, honest, meaning
from tests.scripted_server import Answer, Body, Script, prompt

SEED = 9
"""Draws a scenario whose first turn is of the system, which some endpoints refuse."""
STORE = "sqlite:///habits.db"
_NOT_COMPARED = frozenset({OVERALL, "seconds_per_turn", "cost_per_turn"})
SPEED = 50.0
"""How many times faster waits pass; requests and their timeouts take real time."""


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str
    seconds: float


def recjury(folder: Path, *arguments: str) -> Ended:
    """`recjury ARGUMENTS` in this process and in that folder."""
    out, err = io.StringIO(), io.StringIO()
    before, begun = sys.argv, time.monotonic()
    sys.argv = ["recjury", *arguments]
    code: object = 0
    try:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = before
    assert isinstance(code, int)
    return Ended(code, out.getvalue(), err.getvalue(), time.monotonic() - begun)


@contextlib.contextmanager
def fast_waits() -> Iterator[None]:
    """Waits between attempts take a fiftieth of their time."""
    plain = SystemClock.sleep

    async def sleep(self: SystemClock, seconds: float) -> None:
        await plain(self, seconds / SPEED)

    SystemClock.sleep = sleep  # type: ignore[method-assign]
    try:
        yield
    finally:
        SystemClock.sleep = plain  # type: ignore[method-assign]


def write_campaign(
    folder: Path,
    url: str,
    *,
    scenarios: int = 2,
    systems: int = 1,
    rounds: int = 2,
    samples: int = 0,
    core: bool = True,
    json_mode: str = "off",
) -> str:
    """Write a campaign of ChatCRS and, as the second system, an endpoint that is a CRS.

    `rounds` are those of the debate. With `samples`, FACE draws so many of each score. Without
    `core`, only what is computed and the user's rating are evaluated.
    """
    every: list[dict[str, object]] = [
        {"kind": "chatcrs", "list_source": "from_text"},
        {
            "kind": "openai_crs",
            "name": "endpoint",
            "model": "main",
            "system_prompt": f"You help people find a film to watch, {PLAINLY}.",
        },
    ]
    evaluators: list[object] = ["outcome"]
    if core:
        evaluators.append({"kind": "core", "debate": {"max_rounds": rounds}})
    if samples:
        face = {"kind": "face", "rules": True, "aspects": ["relevance"], "samples": samples}
        evaluators.append(face)
    campaign = {
        "seed": SEED,
        "scenarios": [{"corpus": "sample", "limit": scenarios}],
        "systems": every[:systems],
        "model": {"base_url": url, "name": "scripted", "timeout": 1, "json_mode": json_mode},
        "simulator": {"min_rounds": 2, "max_rounds": 3},
        "evaluators": evaluators,
    }
    (folder / "campaign.yaml").write_text(yaml.safe_dump(campaign), "utf-8")
    return "campaign.yaml"


@dataclass
class Trial:
    """What the store has of one conversation.

    `said` are the turns of one that failed, as far as they are usable.
    """

    log: ConversationLog | None = None
    said: tuple[Turn, ...] = ()
    failure: str = ""
    ratings: dict[str, Rating] = field(default_factory=dict)
    statements: dict[str, Statement] = field(default_factory=dict)

    @property
    def verdict(self) -> Rating | None:
        """The debate's verdict, if the debate was held."""
        return self.ratings.get(f"core {OVERALL}")

    @property
    def has_verdict(self) -> bool:
        """Whether there is a verdict with a score."""
        return self.verdict is not None and self.verdict.score is not None

    @property
    def verdict_reason(self) -> str:
        """Why the debate has no score; empty if it was not held, or has one."""
        return "" if self.verdict is None else self.verdict.reason

    @property
    def unscored(self) -> dict[str, str]:
        """Why there is no score, by what has none though it applies."""
        every: dict[str, Rating | Statement] = {**self.ratings, **self.statements}
        return {
            name: f"{each.status}: {each.reason}"
            for name, each in every.items()
            if each.score is None and each.status is not Status.NOT_APPLICABLE
        }


Trials = dict[str, Trial]


def read_trials(folder: Path) -> Trials:
    """All trials of the folder's store, by scenario and system; empty if there is none."""
    if not (folder / "habits.db").exists():
        return {}
    found: Trials = {}
    with contextlib.chdir(folder), Store.open(STORE) as store:
        for result in store.results():
            trial = found[f"{result.scenario} {result.system}"] = Trial()
            trial.log = store.log(result.conversation)
            trial.said = _said(store, result.conversation)
            trial.failure = result.failure or ""
            for evaluation in result.evaluations:
                for rating in evaluation.ratings:
                    trial.ratings[f"{evaluation.label} {rating.factor}"] = rating
                for stage, reason in evaluation.failures.items():
                    trial.failure += f"; {evaluation.label}, {stage}: {reason}"
                if evaluation.label == "core":
                    debate = store.debate(evaluation.evaluation)
                    for said in () if debate is None else debate.transcript.statements:
                        trial.statements[f"{said.role}, round {said.round}"] = said
    return found


def _said(store: Store, conversation: str) -> tuple[Turn, ...]:
    unfinished = store.unfinished(conversation)
    turns = () if unfinished is None else unfinished.log.interaction
    return tuple(turn for turn in turns if turn.failure is None)


def wrong_scores(found: Trials, healthy: Trials) -> list[str]:
    """What has a score, or was said, that is not as it is without habits.

    A verdict is held against the mean of its own last round, where it must be the same.
    """
    wrong = []
    for name, trial in found.items():
        wrong += [f"{name}: {each}" for each in _differences(trial, healthy[name])]
    return wrong


def _differences(trial: Trial, healthy: Trial) -> Iterator[str]:
    yield from _wrong_turns(trial, healthy)
    for name, rating in trial.ratings.items():
        # What is computed from a log is the same only for the same log.
        comparable = name.startswith("core") or trial.log == healthy.log
        if comparable and rating.score is not None and rating.factor not in _NOT_COMPARED:
            meant = healthy.ratings[name].score
            if rating.score != meant:
                yield f"{name} is {rating.score}, meant {meant}"
    for name, statement in trial.statements.items():
        meant = healthy.statements[name].score
        if statement.score is not None and statement.score != meant:
            yield f"{name} is {statement.score}, meant {meant}"
    if trial.verdict is not None and trial.verdict.score is not None:
        rounds = max(statement.round for statement in trial.statements.values())
        last = [s.score for s in trial.statements.values() if s.round == rounds]
        scores = [score for score in last if score is not None]
        if abs(trial.verdict.score - sum(scores) / len(scores)) > 1e-9:
            yield f"the verdict is {trial.verdict.score}, the last round {scores}"


def _wrong_turns(trial: Trial, healthy: Trial) -> Iterator[str]:
    if trial.log is None or healthy.log is None:
        return
    said = [turn for turn in trial.log.interaction if turn.failure is None]
    for turn, meant in zip(said, healthy.log.interaction, strict=False):
        if (turn.text, turn.items) != (meant.text, meant.items):
            yield f"said {turn.text!r} with {[item.name for item in turn.items]}"


class HabitCampaign:
    """A campaign in a folder, and its server, whose script can be exchanged between runs."""

    def __init__(self, folder: Path, **settings: object):
        """`settings` are those of `write_campaign`."""
        self._folder = folder
        self._settings = settings
        self._script: Script = _healthy
        self._endpoint = ScriptedEndpoint(lambda body: self._script(body), scripted_checks=True)

    def __enter__(self) -> Self:
        """Start the server."""
        self._folder.mkdir(exist_ok=True)
        self._endpoint.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self._endpoint.__exit__()

    def run(self, script: Script | None = None, *options: str) -> Ended:
        """`recjury run` with the answers of that script; without one, with honest answers."""
        self._script = script or _healthy
        file = write_campaign(self._folder, self._endpoint.url, **self._settings)  # type: ignore[arg-type]
        with fast_waits():
            return recjury(self._folder, "run", file, "--store", STORE, *options)

    @property
    def trials(self) -> Trials:
        """What the store has."""
        return read_trials(self._folder)

    @property
    def asked(self) -> list[Body]:
        """The requests so far that were no checks."""
        return [body for body in self._endpoint.bodies if CHECK_PROMPT not in prompt(body)]


def _healthy(body: Body) -> Answer:
    return honest(meaning(body), body)


def healthy_trials(folder: Path, **settings: object) -> Trials:
    """The trials of a campaign without any habit."""
    with HabitCampaign(folder, **settings) as campaign:
        ended = campaign.run()
        assert ended.code == 0, ended.err
        return campaign.trials


def beginning(trials: Trials) -> str:
    """What only the prompts of the first trial have: how its conversation begins."""
    log = next(iter(trials.values())).log
    assert log is not None
    said = re.split("[&<>]", log.scenario.history[0].text)
    return max(said, key=len)
