"""Bad systems: their turn fails with the reason, and everything else goes on."""

import asyncio
import os
import re
import uuid
from collections.abc import Iterator

import pytest

from recjury.agents import System, SystemContext
from recjury.agents.python_system import PythonSystem
from recjury.corpora import open_corpus
from recjury.errors import SystemFailed
from recjury.isolation.launch import closes_files
from tests.agents.conversations import talk
from tests.isolation import bad_systems
from tests.isolation.bad_systems import BAD, FINE, HARMLESS
from tests.isolation.leftovers import MARK, running, wait_until_gone

AROUND = SystemContext(open_corpus("sample"))

ENDED = r"bad: its process (was ended by signal|exited with code|closed its connection)"
WRONG_ANSWER = r"bad: its process (sent what is not an answer|closed its connection)"
LATE = r"bad gave no answer within 3 s"
TOO_MUCH = f"^bad: its process sent more than 4000000 bytes|{LATE}"
DENIED = r"bad: raised PermissionError"
REASONS = {
    "raise_ValueError": r"^bad: raised ValueError: no \(bad_systems.py:\d+\)$",
    "raise_SystemExit": r"^bad: raised SystemExit: 3",
    "raise_Stop": r"^bad: raised Stop: no",
    "raise_GeneratorExit": r"^bad: raised GeneratorExit",
    "raise_StopIteration": r"^bad: raised (StopIteration|RuntimeError)",
    "raise_unspeakable": r"^bad: raised Unspeakable: \(its message cannot be read\)",
    "raise_long": r"^bad: raised ValueError: x{400,600}\.\.\.",
    "raise_lines": r"^bad: a b\\0\\x1b\[31m\\ud800$",
    "interrupt": r"^bad: (raised KeyboardInterrupt|its process exited with code 1; .*Keyboard)",
    "no_memory": r"^bad: raised MemoryError",
    "nothing": "^bad: expected a SystemReply, got NoneType",
    "text": "^bad: expected a SystemReply, got str",
    "mapping": "^bad: expected a SystemReply, got dict",
    "lambda": "^bad: expected a SystemReply, got function",
    "class": "^bad: expected a SystemReply, got ",
    "pretender": "^bad: .*cannot be used|^bad: expected",
    "open_file": "^bad: expected a SystemReply, got TextIOWrapper",
    "lock": "^bad: expected a SystemReply, got lock",
    "generator": "^bad: expected a SystemReply, got generator",
    "no_text": "^bad: the answer has no text",
    "nul": "^bad: the answer contains the character NUL",
    "surrogate": "^bad: the answer is invalid Unicode",
    "unchecked_text": "^bad: the answer cannot be used: text: ",
    "unchecked_items": r"^bad: the answer cannot be used: items\.0: ",
    "too_long": "^bad: the answer has 50000000 characters, at most 100000",
    "exit_0": "^bad: its process exited with code 0",
    "exit_3": "^bad: its process exited with code 3",
    "abort": "^bad: its process was ended by signal 6",
    "segfault": "^bad: its process was ended by signal 11",
    "kill_itself": "^bad: its process was ended by signal 9",
    "alarm": "^bad: its process was ended by signal 14",
    "deep_recursion": "^bad: (its process (was ended by signal 11|used more than)|raised)",
    "shallow_recursion": "^bad: raised RecursionError",
    "say_and_die": "exited with code 1; it printed last: the last words on stderr$",
    "print_lines_and_die": r"printed last: line \d\d of many line .* line 99 of many$",
    "print_megabytes_and_die": "^bad: its process exited with code 1; .* words the end$",
    "close_all": "^bad: its process closed its connection|^bad gave no answer|" + ENDED,
    "eat_memory": r"^bad: its process used more than 300 MB of memory \(`memory_mb`\)",
    "eat_memory_in_child": "^bad: its process used more than 300 MB of memory",
    "many_children_and_die": "^bad: its process (exited with code 1|used more than)",
    "cancel_itself": "^bad: raised CancelledError",
    "leave_child_and_die": "^bad: its process exited with code 1",
    "leave_far_child_and_die": "^bad: its process exited with code 1",
    "leave_program_and_die": "^bad: its process exited with code 1",
    "shut_channel": "^bad: its process (closed its connection|exited with code 0)$",
    **dict.fromkeys([name for name in BAD if name.startswith("send_")], WRONG_ANSWER),
    "send_half": "^bad: its process exited with code 1$",
    **dict.fromkeys(["send_size", "too_many"], TOO_MUCH),
    **dict.fromkeys(
        ["spin", "sleep", "spin_in_c", "stop_itself", "print_forever", "ignore_everything"], LATE
    ),
    "never_ready": "^bad: raised RuntimeError|" + LATE,
    **dict.fromkeys(["cancel_everything", "stop_loop"], "^bad: raised RuntimeError"),
    **dict.fromkeys(HARMLESS, "^$"),
    "lose_json": WRONG_ANSWER,
    "lose_builtins": "^bad: ",
    "fork_and_return_twice": "^bad: |^$",
    **dict.fromkeys(["kill_supervisor", "kill_recjury", "read_recjury", "read_memory"], DENIED),
    **dict.fromkeys(["write_here", "write_code", "delete", "read_home"], DENIED),
}
IN_LOOP = {
    "sleep": LATE,
    "spin": LATE,
    "cancel_itself": "^bad cancelled its own answer",
    "exit_3": ENDED,
    "segfault": ENDED,
    "raise_Stop": "^bad: raised Stop: no",
    "nothing": "^bad: expected a SystemReply",
    "interrupt": "^bad: its process exited with code 1",
    "cancel_everything": "^bad",
    "stop_loop": "^bad",
    "eat_memory": "^bad: its process used more than 300 MB",
}
CASES = [("Bad", name) for name in BAD] + [("BadInLoop", name) for name in IN_LOOP]


def made(kind: str, mark: str) -> System:
    os.environ[MARK] = mark
    return PythonSystem(
        name="bad",
        path=f"{bad_systems.__name__}:{kind}",
        timeout=3,
        memory_mb=300,
        environment=(MARK,),
    ).prepared(AROUND)


@pytest.fixture(scope="module")
def systems() -> Iterator[dict[str, System]]:
    """A system of each class, for all tests; in the end nothing of them is left."""
    mark = uuid.uuid4().hex
    made_systems = {kind: made(kind, mark) for kind in ("Bad", "BadInLoop")}
    yield made_systems
    assert running(mark)
    for system in made_systems.values():
        asyncio.run(system.aclose())
    wait_until_gone(mark)


def says(system: System, text: str) -> str:
    """The reason why there is no reply; empty for the right one."""
    try:
        reply = asyncio.run(system.respond(talk(text)))
    except SystemFailed as failure:
        return str(failure)
    assert reply == FINE
    return ""


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_turn_fails_with_its_reason_and_the_next_works(
    systems: dict[str, System], kind: str, name: str
) -> None:
    expected = (REASONS if kind == "Bad" else IN_LOOP)[name]
    if expected == DENIED and not closes_files():
        pytest.skip("this kernel has no Landlock")
    reason = says(systems[kind], name)
    assert re.search(expected, reason), reason
    assert reason.isprintable()
    assert says(systems[kind], "Hello") == ""
