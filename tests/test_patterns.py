"""Regular expressions and lists of English words outside of `recjury.language`, counted by room.

The one place that reads sentences is `language`; elsewhere a count may only fall.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import recjury

ROOT = Path(recjury.__file__).parent
MOST = {
    "agents": (9, 0),
    "agreement": (13, 1),
    "campaign": (0, 1),
    "cli": (0, 1),
    "corpora": (12, 1),
    "debate": (3, 1),
    "judges": (88, 15),
    "knowledge": (24, 7),
    "llm": (53, 1),
    "papers": (1, 0),
    "prompts": (2, 0),
    "report": (4, 0),
    "results": (1, 0),
    "safe_text": (7, 0),
    "simulator": (33, 1),
    "store": (1, 0),
}
"""How many regular expressions and lists of words a room has at most: bounds that only fall."""

PATTERN_CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall"}
PATTERN_CALLS |= {"finditer"}
FEWEST_WORDS = 8
WORD = re.compile(r"[a-z][a-z'’ -]*")


def is_pattern(node: ast.AST) -> bool:
    """Whether a node is a call of `re` with a literal pattern."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in PATTERN_CALLS
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant | ast.JoinedStr | ast.BinOp)
    )


def is_word_list(node: ast.AST) -> bool:
    """Whether a node is a literal set, tuple or list of words in lower case, or splits a text."""
    words: list[object] = []
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        words = [getattr(each, "value", None) for each in node.elts]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        text = getattr(node.func.value, "value", None)
        words = list(text.split()) if node.func.attr == "split" and isinstance(text, str) else []
    enough = len(words) >= FEWEST_WORDS
    return enough and all(isinstance(each, str) and WORD.fullmatch(each) for each in words)


def counts() -> dict[str, tuple[int, int]]:
    """The regular expressions and the lists of words of each room that has any."""
    patterns, lists = Counter[str](), Counter[str]()
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if room != "language":
            nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
            patterns[room] += sum(map(is_pattern, nodes))
            lists[room] += sum(map(is_word_list, nodes))
    return {room: (patterns[room], lists[room]) for room in sorted(patterns)}


def test_patterns_and_word_lists_do_not_grow() -> None:
    found = counts()
    more = {room: each for room, each in found.items() if not within(each, MOST.get(room, (0, 0)))}
    assert more == {}, (
        "more (regular expressions, lists of English words) than before: let `recjury.language` "
        "read what people say; a rise needs a held-out gain in its commit"
    )


def within(found: tuple[int, int], most: tuple[int, int]) -> bool:
    """Whether neither count is above its bound."""
    return found[0] <= most[0] and found[1] <= most[1]


@pytest.mark.parametrize(
    ("code", "patterns", "lists"),
    [
        ('re.compile(r"\\bno\\b")', 1, 0),
        ('re.sub(f"{x}", "", text)', 1, 0),
        ("re.compile(pattern)", 0, 0),
        ('{"a", "b", "c", "d", "e", "f", "g", "h"}', 0, 1),
        ('"a b c d e f g h".split()', 0, 1),
        ('"a b c d e f g".split()', 0, 0),
        ('("A", "B", "C", "D", "E", "F", "G", "H")', 0, 0),
    ],
)
def test_what_is_counted(code: str, patterns: int, lists: int) -> None:
    nodes = list(ast.walk(ast.parse(code)))
    assert sum(map(is_pattern, nodes)) == patterns
    assert sum(map(is_word_list, nodes)) == lists
