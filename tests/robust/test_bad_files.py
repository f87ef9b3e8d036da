"""Files from strangers: each reader refuses each of them in one line, whatever it holds."""

import gzip
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from recjury import input_files
from tests.cli.front_door import Command

_ROW = b'{"id": "a", "system": "s", "interaction": [{"speaker": "system", "text": "Heat."}]}\n'


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _damaged_disk(path: Path) -> None:
    path.symlink_to("/proc/self/mem")  # reading its beginning is an error of input


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _holding(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


KINDS: Mapping[str, Callable[[Path], object]] = {
    "missing": lambda _: None,
    "pipe": _fifo,
    "folder": _folder,
    "device": _device,
    "link to itself": _loop,
    "damaged disk": _damaged_disk,
    "empty": _holding(b""),
    "blank lines": _holding(b"\n" * 3_000_000),
    "packed blank lines": _holding(gzip.compress(b"\n" * 3_000_000)),
    "packed zeros": _holding(gzip.compress(bytes(3_000_000), 1)),
    "spaces": _holding(b" " * 3_000_000),
    "cut gzip": _holding(gzip.compress(_ROW * 100)[:40]),
    "gzip with a tail": _holding(gzip.compress(b"[") + b"tail"),
    "zeros": _holding(bytes(5000)),
    "noise": _holding(bytes(range(256)) * 20),
    "utf-16": _holding('{"a": 1}\n'.encode("utf-16")),
    "latin-1": _holding('"caf\u00e9": [1]\n'.encode("latin-1")),
    "deep lists": _holding(b"[" * 100_000),
    "deep objects": _holding(b'{"a":' * 50_000),
    "closed deep lists": _holding(b"[" * 600 + b"]" * 600),
    "large number": _holding(b'{"a": 1' + b"0" * 400 + b"}\n"),
    "larger number": _holding(b'[{"score": 1' + b"0" * 6000 + b"}]\n"),
    "large exponent": _holding(b'[{"a": 1e999}]\n'),
    "not a number": _holding(b'[{"conv_id": NaN}]\n'),
    "lone surrogate": _holding(b'{"a": "\\ud800"}\n'),
    "null": _holding(b"null\n"),
    "nulls": _holding(b"[null, null]\n"),
    "text": _holding(b'"text"\n'),
    "alias in itself": _holding(b"a: &a [*a]\n"),
    "merged in itself": _holding(b"a: &a\n  <<: *a\n"),
    "billion laughs": _holding(
        b"a0: &a0 [x, x]\n"
        + b"".join(b"a%d: &a%d [*a%d, *a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 40))
    ),
    "merged laughs": _holding(
        b"a0: &a0 {x: 1}\n"
        + b"".join(b"a%d: &a%d {<<: [*a%d, *a%d]}\n" % (n, n, n - 1, n - 1) for n in range(1, 40))
    ),
    "unknown tag": _holding(b"!!python/object/apply:os.abort []\n"),
    "infinity": _holding(b"name: .inf\nscenarios: .nan\n"),
    "no day": _holding(b"name: 2024-02-31\n"),
}

READERS: Mapping[str, tuple[str, ...]] = {
    "detected": ("judge", "bad"),
    "jsonl": ("judge", "bad", "--format", "jsonl"),
    "messages": ("judge", "bad", "--format", "messages"),
    "exported": ("judge", "bad", "--format", "recjury"),
    "concept": ("judge", "bad", "--format", "concept"),
    "crsarena": ("judge", "bad", "--format", "crsarena"),
    "linked": ("judge", "bad", "--link-items"),
    "campaign": ("run", "bad"),
    "models": ("judge", "good.jsonl", "--config", "bad"),
    "csv labels": ("align", "--labels", "csv:bad"),
    "annotations": ("align", "--labels", "annotations:bad"),
    "crsarena labels": ("align", "--labels", "crsarena-eval:bad"),
    "scores": ("align", "bad", "--labels", "csv:labels.csv"),
    "scores in csv": ("align", "bad.csv", "--labels", "csv:labels.csv"),
    "key": ("annotate", "import", "bad", "answers.json"),
    "personas": ("run", "personas.yaml"),
    "criteria": ("run", "criteria.yaml"),
    "items": ("run", "items.yaml"),
    "domain": ("run", "domain.yaml"),
    "particles": ("judge", "good.jsonl", "--config", "particles.yaml"),
}

_CAMPAIGN = "scenarios: [{corpus: %s, limit: 1}]\nsystems: [retrieval]\n"
_FILES = {
    "good.jsonl": _ROW.decode(),
    "labels.csv": "conversation,aspect,label\na,overall,1\n",
    "personas.yaml": _CAMPAIGN % "sample" + "simulator: {population: true, personas: bad}\n",
    "criteria.yaml": _CAMPAIGN % "sample"
    + "model: {base_url: 'http://127.0.0.1:9', name: x, retries: 0}\n"
    + "evaluators: [{kind: rubric, file: bad}]\n",
    "items.yaml": _CAMPAIGN % "corpus",
    "domain.yaml": _CAMPAIGN % "other",
    "particles.yaml": "evaluators: [{kind: face, particles: bad, rules: true}]\n",
}


# A sixth of all pairs; the others take a minute.
_TRIED = [
    pytest.param(kind, reader, marks=[] if (place + number) % 6 == 0 else [pytest.mark.slow])
    for place, kind in enumerate(KINDS)
    for number, reader in enumerate(READERS)
]


@pytest.mark.parametrize(("kind", "reader"), _TRIED)
def test_a_bad_file_is_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, kind: str, reader: str
) -> None:
    monkeypatch.setattr(input_files, "MAX_LINE", 2**20)
    for name, content in _FILES.items():
        Path(name).write_text(content, "utf-8")
    for folder in ("corpus", "other"):
        Path(folder).mkdir()
    Path("corpus/domain.yaml").write_text("domain: movie\n", "utf-8")
    Path("other/items.jsonl").write_text('{"id": "a", "name": "Heat"}\n', "utf-8")
    for name in ("bad", "bad.csv", "corpus/items.jsonl", "other/domain.yaml"):
        KINDS[kind](Path(name))
    ended = command(*READERS[reader])
    assert ended.code == 2, (ended.out, ended.err)
    # A slow machine is told after some seconds that it is still at work.
    (line,) = (each for each in ended.err.splitlines() if not each.startswith("reading data"))
    assert line.startswith("recjury: ")
    assert len(line) < 1000
