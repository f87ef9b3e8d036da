"""recjury from a script: the same campaigns, the same store, plain functions as systems."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import recjury
from recjury.judges import Evaluator, Outcome
from recjury.llm import Ask
from recjury.records import Conversation, ConversationLog, Finding, Metric, Rating
from recjury.results import Selection
from recjury.store import Store
from tests.agents import own

CHAT = [
    {"role": "user", "content": "Do you know a film like Alien?"},
    {"role": "assistant", "content": "Aliens (1986) goes on with its story."},
]


def recommend(conversation: Conversation) -> str:
    return "Try Heat (1995), or Fargo (1996)."


class Shy:
    """A system with a setting."""

    def __init__(self, title: str = "Alien (1979)"):
        self.title = title

    def respond(self, conversation: Conversation) -> str:
        return f"Perhaps {self.title}?"


class Length(Evaluator):
    """The mean length of the system's turns."""

    kind: str = "length"
    unit: int = 1

    @property
    def metrics(self) -> Sequence[Metric]:
        return [Metric(name="length", high=100_000)]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        lengths = [len(turn.text) / self.unit for turn in log.interaction]
        return [Rating(metric="length", rater="length", score=sum(lengths) / len(lengths))]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


def test_a_plain_function_is_a_system(store: Path) -> None:
    run = recjury.evaluate(systems=[recommend, "popular"], store=store, limit=2)
    assert set(run.systems) == {"recommend", "popular"}
    mean = run.systems["recommend"]["outcome.recall@10"]
    assert (mean["n"], mean["coverage"]) == (2, 1.0)
    assert 0 <= mean["mean"] <= 1
    assert len(run.trials()) == 4


def test_objects_are_named_and_known_again(store: Path) -> None:
    """What was played is not played again, unless an object's state is another one."""

    def played(title: str) -> int:
        run = recjury.evaluate(
            systems={"shy": Shy(title), "popular": "popular"}, store=store, limit=2
        )
        assert set(run.systems) == {"shy", "popular"}
        return len(run.ratings(all_versions=True)["conversation"].unique())

    assert played("Alien (1979)") == 4
    assert played("Alien (1979)") == 4
    assert played("Heat (1995)") == 6


def test_an_object_without_plain_state_is_played_again(store: Path) -> None:
    """Nobody knows whether a closure in another process is the same."""

    def said(text: str) -> None:
        recjury.evaluate(systems={"mine": lambda conversation: text}, store=store, limit=1)

    said("Heat (1995)")
    said("Alien (1979)")
    texts = recjury.open(store).newest.turns().query("speaker == 'system'")["text"]
    assert set(texts) == {"Alien (1979)"}


def test_evaluators_are_objects_classes_or_settings(store: Path) -> None:
    evaluators = [Outcome(), Length(unit=2), {"kind": "counted", "name": "rules"}]
    run = recjury.evaluate(systems=own.function, evaluators=evaluators, store=store, limit=1)
    ids = set(run.scores().columns)
    assert {"outcome.success", "length.length", "rules.overall"} <= ids


def test_a_campaign_file_with_other_values(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("scenarios: sample\nsystems: [popular, random]\n")
    run = recjury.evaluate(file, systems=["popular"], store=store, limit=1)
    assert run.campaign == "mine"
    assert list(run.systems) == ["popular"]


def test_messages_are_judged(store: Path) -> None:
    run = recjury.judge([CHAT, {"messages": CHAT, "system": "other"}], store=store)
    assert len(run.systems) == 2
    again = recjury.judge(campaign="recorded", evaluators=[Length()], store=store)
    assert again.systems["other"]["length.length"]["n"] == 1
    assert len(recjury.open(store).newest.ratings()) == len(again.ratings())


def test_a_conversation_that_cannot_be_read_is_a_warning(store: Path) -> None:
    chats = [CHAT] * 30 + [CHAT[:1]]
    with pytest.warns(UserWarning, match="entry 31"):
        run = recjury.judge(chats, catalogue="sample", store=store)
    assert len(run.ratings()["conversation"].unique()) == 30


def test_what_a_store_has(store: Path) -> None:
    recjury.evaluate(name="one", systems=["popular"], store=store, limit=1)
    recjury.evaluate(name="two", systems=["popular", "random"], store=store, limit=2)
    stored = recjury.open(store)
    assert list(stored) == ["two", "one"]
    assert stored.newest == stored["two"]
    run = stored.newest
    assert len(stored["one"].means()) < len(run.means())
    assert "popular" in run.compare().answer
    assert "counted" in run.replay(str(run.ratings()["conversation"][0])).text
    assert not len(run.calls())
    assert set(run.statements()["role"]) >= {"Linguist"}


def test_a_run_takes_the_options_of_the_commands(store: Path) -> None:
    run = recjury.evaluate(systems=["popular", "random"], store=store, limit=3)
    some = Selection(where=("outcome.rounds>=1",), systems=("popular", "random"))
    found = run.compare(
        "popular", "random", selection=some, missing="worst", margins={"success": 1}
    )
    assert found.data["margins"][0]["metric"] == "outcome.success"
    assert len(run.conversations(Selection(systems=("popular",))).data["conversations"]) == 3
    assert "popular" in run._repr_html_()


def test_it_works_where_a_loop_is_running(store: Path) -> None:
    """As in a notebook, and in a program that waits itself."""
    told: list[int] = []

    async def cell() -> recjury.Run:
        recjury.evaluate(systems=["popular"], store=store, limit=1)
        return await recjury.evaluate_async(
            systems=["popular"], store=store, limit=2, progress=lambda now: told.append(now.done)
        )

    assert asyncio.run(cell()).systems["popular"]["outcome.rounds"]["n"] == 2
    assert 1 in told


INTERRUPTED = """
import asyncio, os, signal, sys
import recjury

async def talk(conversation):
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(60)

async def cell():
    recjury.evaluate(systems={"slow": talk}, store=sys.argv[1], limit=1)

asyncio.new_event_loop().run_until_complete(cell())  # whose loop, as a notebook's, raises
"""


def test_a_cell_that_is_interrupted_ends_the_run(store: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "KeyboardInterrupt" in done.stderr
    with Store(store, readonly=True) as opened:
        assert [run.state for run in opened.runs(opened.campaign())] == ["interrupted"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recjury.evaluate(systems=["popula"]), "did you mean popular"),
        (lambda: recjury.evaluate(systems=[3]), "function"),
        (lambda: recjury.evaluate(system=["popular"]), "systems"),
        (lambda: recjury.judge(), "neither"),
        (lambda: recjury.judge([]), "no conversation"),
        (lambda: recjury.judge([3]), "^no row is of a known form"),
        (lambda: recjury.judge([CHAT], catalogue="sampl"), "did you mean sample"),
        (lambda: recjury.judge([{"messages": [{"role": "user", "content": object()}]}]), "data"),
        (lambda: recjury.open("missing.db"), "missing.db"),
    ],
)
def test_mistakes_are_one_line(
    call: Callable[[], object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(recjury.UserError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_a_script_is_recognised_in_another_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import recjury\n"
        "def mine(conversation):\n"
        "    return 'Heat (1995)'\n"
        "run = recjury.evaluate(systems=[mine], limit=1)\n"
        "print(len(run.ratings(all_versions=True)['conversation'].unique()))\n"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "1"


def test_importing_it_costs_little() -> None:
    code = "import sys, recjury; assert not {'pandas', 'pydantic', 'openai'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
