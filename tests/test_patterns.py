"""Regular expressions and lists of English words outside of `recjury.language`, counted by room.

The one place that reads sentences is `language`; elsewhere a count may only fall.
"""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import recjury

ROOT = Path(recjury.__file__).parent
# How many each room has: numbers that only fall.
# fmt: off
PATTERNS = {
    "agents": 9, "agreement": 12, "corpora": 10, "debate": 3, "input_files": 2, "judges": 15,
    "knowledge": 17, "llm": 49, "papers": 1, "report": 3, "results": 1, "safe_text": 7,
    "simulator": 32,
}
WORD_LISTS = {
    "agreement": 1, "campaign": 1, "cli": 1, "corpora": 1, "debate": 1, "judges": 3,
    "knowledge": 7, "simulator": 1,
}
# fmt: on
FEWEST_WORDS = 8
WORD = re.compile(r"[a-z][a-z'’ -]*")


def is_pattern(node: ast.AST) -> bool:
    """Whether a node is a call of `re` with a literal pattern."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = ast.unparse(node.func)
    literal = isinstance(node.args[0], ast.Constant | ast.JoinedStr | ast.BinOp)
    return literal and name.startswith("re.") and name != "re.escape"


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


def counted(code: str) -> tuple[int, int]:
    """The numbers of regular expressions and of lists of words."""
    nodes = list(ast.walk(ast.parse(code)))
    return sum(map(is_pattern, nodes)), sum(map(is_word_list, nodes))


def test_patterns_and_word_lists_do_not_grow() -> None:
    patterns, lists = Counter[str](), Counter[str]()
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if room != "language":
            found = counted(path.read_text("utf-8"))
            patterns[room] += found[0]
            lists[room] += found[1]
    bounds = Counter(PATTERNS), Counter(WORD_LISTS)
    assert (patterns - bounds[0], lists - bounds[1]) == ({}, {}), (
        "more regular expressions or lists of words than before: let `recjury.language` read what "
        "people say; a rise needs a held-out gain in its commit"
    )
    assert (patterns, lists) == bounds, "fewer than before: lower the numbers"


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        ('re.compile(rf"{no}")', (1, 0)),
        ('"a b c d e f g h".split()', (0, 1)),
        ('("A", "B", "C", "D", "E", "F", "G", "H")', (0, 0)),
    ],
)
def test_what_is_counted(code: str, numbers: tuple[int, int]) -> None:
    assert counted(code) == numbers
