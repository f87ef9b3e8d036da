"""One concept has one name, and one name means one concept: in every name that the code defines.

`REPLACED` has words that were the project's own, with the word that the field uses instead. A name
may not bring one of them back.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import recjury

ROOT = Path(recjury.__file__).parent

# Each word, or sequence of words, as a whole part of a name: `lane` is in `open_lane` and in
# `LaneKeeper`, not in `planes`.
REPLACED = {
    "behalf of": "call context",
    "caution": "caveat",
    "endpoint refused": "provider error",
    "fixable": "user error",
    "foreign": "plugin",
    "hearing": "context encoder",
    "house": "package",
    "judging file": "config",
    "lane": "model client",
    "moment": "user context",
    "moving": "progress line",
    "own turns": "repeat n-grams",
    "pace": "rate limiter, learning rate factor",
    "prints aside": "redirect stdout",
    "pull": "contribution",
    "settled alone": "rescored",
    "surroundings": "system context",
    "unreadable": "parse error",
    "voice": "generator",
    "walk": "run, advance",
    "wire": "transport",
}

# Ordinary words, which functions and variables may have, but which did not name a class well.
REPLACED_CLASSES = {
    "Asked": "Request",
    "Attribution": "CallContext",
    "Cast": "Components",
    "Checked": "SupportsCheck",
    "Further": "Choice",
    "Heard": "EncodedContext",
    "Limit": "Semaphore",
    "Memory": "KeyValueCache",
    "Named": "what is named, as a noun",
    "Place": "ScoreTarget",
    "Prepared": "what was built",
    "Rules": "GenerationConfig",
    "Said": "turn, statement or reply",
    "Sender": "ModelCalls",
    "Told": "Response",
}

# Names with a replaced word that stay, each with its reason.
ALLOWED = {
    "UNREADABLE": "a stored status of ratings",
    "pull": "the t-th play of a bandit's arm",
}


class Definition(NamedTuple):
    """A name that a file defines."""

    name: str
    where: str


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of each file, by its path in the package."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }


def words_of(name: str) -> str:
    """The words of a name in lower case, with a space around each: `openLane` is ` open lane `."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return f" {' '.join(part.lower() for part in parts)} "


def defined() -> Iterator[Definition]:
    """Everything that is given a name: files, classes, functions, parameters, variables."""
    for path, tree in trees().items():
        for part in path.removesuffix(".py").split("/"):
            yield Definition(part, path)
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                    yield Definition(name, path)
                case ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                    yield Definition(name, path)
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    yield Definition(name, path)
                case _:
                    pass


def test_no_replaced_word_comes_back() -> None:
    found = defaultdict(set)
    for name, where in defined():
        if name in REPLACED_CLASSES or any(f" {word} " in words_of(name) for word in REPLACED):
            found[name].add(where)
    assert {name: places for name, places in found.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) - set(found) == set(), "these no longer exist: take them out"


def test_a_word_is_found_as_a_whole_part_of_a_name() -> None:
    assert words_of("_HTTPLaneKeeper") == " http lane keeper "
    assert " lane " in words_of("open_lane")
    assert " lane " not in words_of("planes")
    assert " own turns " in words_of("ban_own_turns")


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    shared = {name: found for name, found in places.items() if len(found) > 1}
    assert shared == {}


def test_every_public_name_has_a_docstring() -> None:
    bare = {place for path, tree in trees().items() for place in undocumented(path, tree)}
    assert bare == set()


def undocumented(path: str, tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The public classes, functions and methods without a docstring, as `file: name`."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or is_variant(node):
            continue
        if ast.get_docstring(node) is None:
            yield f"{path}: {node.name}"
        if isinstance(node, ast.ClassDef):
            yield from undocumented(f"{path}: {node.name}", node)


def is_variant(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether this is an overload, a property's setter, or an override, whose base has the text."""
    names = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    return bool(names & {"overload", "override", "setter"})
