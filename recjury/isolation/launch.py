"""What a process gets: a class of the user, the corpus without targets, files, environment."""

import copy
import importlib.util
import os
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import orjson
from pydantic import Field

import recjury
from recjury.errors import ConfigError, DataError
from recjury.isolation.process import Launch
from recjury.isolation.supervisor import landlock_version
from recjury.plugins import Count, NonEmpty, describe_exception, exception_message
from recjury.records import Record

if TYPE_CHECKING:
    from recjury.corpora import Corpus, ScenarioSet, TrainingExample

T = TypeVar("T")

# What programs of this machine need, and holds nobody's own files.
_OF_THE_MACHINE = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/nix/store")
_RESOLVER = "/run/systemd/resolve"
_PYTHON = (sys.prefix, sys.base_prefix, sys.exec_prefix)
_IMPORTED = (".py", ".so", ".dist-info", ".egg-info")
_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH")
_FAMILIES = ("LC_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "OPENBLAS_", "PYTORCH_")


class ShownCorpus:
    """What code of the user may see of a corpus: no scenarios, because they have the targets."""

    def __init__(self, corpus: "Corpus"):
        """Take what all get; `channel` is open while the object of the user's class is made."""
        self.name = corpus.name
        self.catalogue = _without_caches(corpus.catalogue)
        self.graph = _without_caches(corpus.graph)
        self.splits = corpus.splits
        self.channel: Connection | None = None

    def examples(self, split: str) -> "list[TrainingExample]":
        """The examples of a split. Raises DataError for a played one, and for a later call."""
        if self.channel is None:
            raise DataError("examples can only be read while the system is made")
        self.channel.send_bytes(orjson.dumps({"examples": split}))
        examples: list[TrainingExample] | str = pickle.loads(self.channel.recv_bytes())  # noqa: S301
        if isinstance(examples, str):
            raise DataError(examples)
        return examples

    def scenarios(self, *_: object, **__: object) -> "ScenarioSet":
        """Raises DataError."""
        raise DataError("a system under test sees no scenarios: they have the targets")


def _without_caches(thing: T) -> T:
    """A copy without what was computed from it: that may know texts of other conversations."""
    fresh = copy.copy(thing)
    for name, member in vars(type(thing)).items():
        if isinstance(member, cached_property):
            vars(fresh).pop(name, None)
    return fresh


class FirstMessage(NamedTuple):
    """What to make: "module:function" of recjury's code that makes a `Served`, the keys that it is
    for, the corpus (None if it is unknown), and what else the function takes."""

    maker: str
    entry: Mapping[str, object]
    corpus: ShownCorpus | None
    further: Mapping[str, object]


class ProcessSettings(Record):
    """Where a class of the user runs, and what it may use there.

    With `isolate: process` it runs in `processes` processes of its own, each with at most
    `memory_mb` of resident memory, its children included. They get the conversation and no
    scenarios; of the environment what language, time and libraries need, and what `environment`
    names. If the kernel can ensure it, they read no files but their code and `reads`, and write
    none. Objects, classes of `__main__`, and all on other machines than Linux run in threads.
    """

    path: str
    options: dict[str, object] = Field(default_factory=dict)
    instance: Any = Field(default=None, exclude=True)
    isolate: Literal["process", "thread"] = "process"
    processes: Annotated[Count, Field(ge=1)] = 1
    memory_mb: Annotated[Count, Field(ge=64)] = 8192
    reads: tuple[NonEmpty, ...] = ()
    environment: tuple[NonEmpty, ...] = ()

    @property
    def isolation(self) -> str:
        """Where its code runs, and what it can reach there."""
        if reason := self.thread_reason:
            return in_thread(reason)
        if closes_files():
            return "process: it can read no files but its code and `reads`"
        return "process: it can read all files of the user, because the kernel has no Landlock"

    @property
    def thread_reason(self) -> str:
        """Why it runs in threads of this process; empty if it does not."""
        if self.instance is not None:
            return "an object"
        if self.path.startswith("__main__:"):
            return "a class of __main__"
        if sys.platform != "linux":
            return "not Linux"
        return "isolate: thread" if self.isolate == "thread" else ""

    def launch(
        self, maker: str, name: str, corpus: "Corpus | None", module: str, **further: object
    ) -> Launch:
        """How to start a process for the class with this name, which is in `module`.

        `maker` makes it there, as `FirstMessage` says. Raises ConfigError for `options` that cannot
        be sent to another process, and for `reads` and `environment` that do not exist.
        """
        entry = {"name": name, "path": self.path, "options": self.options}
        shown = None if corpus is None else ShownCorpus(corpus)
        first = FirstMessage(maker, entry, shown, further)
        try:
            content = pickle.dumps(first)
        except Exception as error:  # an object of the user may do anything
            problem = describe_exception(error)
            raise ConfigError(
                f"{self.path}: its options cannot be sent to another process ({problem}): "
                "set `isolate: thread`"
            ) from error
        instructions = {
            "memory": self.memory_mb << 20,
            "readable": [*_readable(module), *map(_existing, self.reads)],
            "listable": _import_folders(),
            "path": [os.path.abspath(folder) for folder in sys.path],
        }
        given = _environment(self.environment)
        return Launch(instructions, content, given, partial(_examples, corpus))


def in_thread(reason: str) -> str:
    """What code can reach that runs in recjury's process for this reason."""
    return f"thread ({reason}): it can reach the memory, files and keys of recjury"


@cache
def closes_files() -> bool:
    """Whether this machine's kernel can keep a process from files (Landlock, Linux 5.13)."""
    return sys.platform == "linux" and landlock_version() > 0


def _examples(corpus: "Corpus | None", split: str) -> bytes:
    try:
        if corpus is None:
            raise DataError("the corpus is unknown")
        return pickle.dumps(corpus.examples(split))
    except Exception as error:  # a corpus of the user may do anything
        return pickle.dumps(exception_message(error))


def _environment(names: Sequence[str]) -> dict[str, str]:
    if missing := [name for name in names if name not in os.environ]:
        raise ConfigError(f"environment: {', '.join(missing)} is not set")
    return {
        name: value
        for name, value in os.environ.items()
        if name in (*_VARIABLES, *names) or name.startswith(_FAMILIES)
    }


def _existing(name: str) -> str:
    path = Path(name).expanduser().absolute()
    if not path.exists():
        raise ConfigError(f"reads: {path} does not exist")
    return str(path)


def _readable(module: str) -> Iterator[str]:
    """Python, this package, the package that has the module, and what `import` can find.

    Of folders outside of Python these are modules and packages, and not what else is there.
    """
    yield from (*_OF_THE_MACHINE, _RESOLVER, *_PYTHON, os.path.dirname(recjury.__file__))
    with suppress(ImportError, ValueError):  # the process says what is wrong
        # A package that is in no other is found without running any of it.
        if spec := importlib.util.find_spec(module.partition(".")[0]):
            yield from spec.submodule_search_locations or filter(None, [spec.origin])
    for folder in _import_folders():
        for path in Path(folder).iterdir():
            if path.suffix in _IMPORTED or (path / "__init__.py").exists():
                yield str(path)


def _import_folders() -> list[str]:
    """The folders that `import` looks into, except for Python's own."""
    folders = [Path(folder).absolute() for folder in sys.path]
    return [
        str(folder)
        for folder in folders
        if folder.is_dir() and not any(folder.is_relative_to(own) for own in _PYTHON)
    ]
