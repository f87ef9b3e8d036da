"""How well `recjury.language` reads acts, broken replies and wishes, on labelled files.

    python -m benchmarks.language ACTS REPLIES WISHES [--part 0|1] [--json]

Each file has one JSON object a line; other keys are ignored:

- ACTS: `{"system", "user", "acts"}`: what the system said before, the user's turn, and its acts of
  accept, refuse, seen, wish, ask, complain, thank, bye and chat (docs/acts.md is the codebook).
- REPLIES: `{"history", "reply", "broken", "kind"}`: `history` is one string, `kind` free text.
- WISHES: `{"user", "wants", "rejects"}`: lists of "attribute:value". The attributes are genre,
  person, like, decade, year, age, language, cuisine, price, brand, length and audience; actor,
  director, writer, author, artist and singer count as person, country as language, era and
  period as decade, similar as like. No catalogue is given.

Printed are precision, recall and F1, with 95 % intervals from 1,000 resamples of lines; `mean_f1`
is over accept, refuse, seen, wish, ask, complain and thank. An act counts if the reader is sure of
it, a reply as broken if the reader says so. `--part` takes every second line of each
file: the held-out sentences of this repository were developed on with part 0, and are reported on
part 1.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.running import run
from recjury.language import read, read_reply
from recjury.records import Act, Speaker, Turn

MEAN_OVER = (Act.ACCEPT, Act.REFUSE, Act.SEEN, Act.WISH, Act.ASK, Act.COMPLAIN, Act.THANK)
_PERSONS = ("actor", "director", "writer", "author", "artist", "singer", "cast")
ALIASES = dict.fromkeys(_PERSONS, "person")
ALIASES |= {"country": "language", "era": "decade", "period": "decade", "similar": "like"}
_RESAMPLES = 1000

Row = dict[str, object]
Table = dict[str, object]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


def rates(right: Flags, guessed: Flags) -> Table:
    """Precision, recall and F1 of guesses by line, each with its interval."""
    return _rates(np.stack([right & guessed, guessed, right], 1).astype(np.int64))


def _rates(counts: Counts) -> Table:
    """From true positives, guesses and truths by line: [lines, 3]."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(counts), (_RESAMPLES, len(counts)))
    sums = np.concatenate([counts.sum(0)[None], counts[drawn].sum(1)])
    hit, guesses, truths = (sums[:, column].astype(float) for column in range(3))
    with np.errstate(invalid="ignore", divide="ignore"):
        figures = {
            "precision": hit / guesses,
            "recall": hit / truths,
            "f1": 2 * hit / (guesses + truths),
        }
    table: Table = {}
    for name, values in figures.items():
        value = None if np.isnan(values[0]) else round(float(values[0]), 3)
        table[name] = value
        known = values[1:][~np.isnan(values[1:])]
        ends = np.quantile(known, [0.025, 0.975]) if len(known) else []
        table[f"{name}_interval"] = [round(float(end), 3) for end in ends]
    return table | {"n": int(counts[:, 2].sum())}


def acts_table(rows: Sequence[Row]) -> Table:
    """The figures by act, and the mean F1."""
    read_lines = [_acts_of(str(row["system"]), str(row["user"])) for row in rows]
    table: Table = {}
    scores = []
    for act in Act:
        right = np.array([act.value in _texts(row["acts"]) for row in rows])
        figures = rates(right, np.array([act in acts for acts in read_lines]))
        table[act.value] = figures
        if act in MEAN_OVER:
            scores.append(figures["f1"] or 0.0)
    return table | {"mean_f1": round(float(np.mean(scores)), 3)}  # type: ignore[arg-type]


def _acts_of(system: str, user: str) -> frozenset[Act]:
    before = (Turn(speaker=Speaker.SYSTEM, text=system),) if system else ()
    sure = read(Turn(speaker=Speaker.USER, text=user), before).yes
    return sure or frozenset({Act.CHAT})


def replies_table(rows: Sequence[Row]) -> Table:
    """How many broken replies are found, by kind, and how many fine ones are alarms."""
    broken = np.array([bool(row["broken"]) for row in rows])
    called = np.array([read_reply(str(row["reply"])).broken is True for row in rows])
    doubtful = np.array([read_reply(str(row["reply"])).broken is None for row in rows])
    figures = rates(broken, called)
    kinds: dict[str, list[bool]] = defaultdict(list)
    for row, found in zip(rows, called, strict=True):
        if row["broken"]:
            kinds[str(row.get("kind", ""))].append(bool(found))
    return figures | {
        "false_alarms": round(float(called[~broken].mean()), 3) if (~broken).any() else None,
        "doubtful": round(float(doubtful.mean()), 3),
        "kinds": {k: {"n": len(v), "recall": round(sum(v) / len(v), 3)} for k, v in kinds.items()},
    }


def wishes_table(rows: Sequence[Row]) -> Table:
    """The figures by attribute, wants and rejections together, and of all."""
    by_attribute: Mapping[str, list[list[int]]] = defaultdict(list)
    every = []
    for row in rows:
        reading = read(Turn(speaker=Speaker.USER, text=str(row["user"])), ())
        guessed = {("+", *each) for each in reading.wants} | {
            ("-", *each) for each in reading.rejects
        }
        right = {("+", *_attribute(text)) for text in _texts(row["wants"])}
        right |= {("-", *_attribute(text)) for text in _texts(row.get("rejects", []))}
        every.append([len(right & guessed), len(guessed), len(right)])
        for kind in {each[1] for each in right | guessed}:
            mine, theirs = ({e for e in found if e[1] == kind} for found in (guessed, right))
            by_attribute[kind].append([len(mine & theirs), len(mine), len(theirs)])
    table: Table = {kind: _rates(np.array(counts)) for kind, counts in sorted(by_attribute.items())}
    return table | {"all": _rates(np.array(every))}


def _attribute(text: str) -> tuple[str, str]:
    kind, _, value = text.lower().partition(":")
    return ALIASES.get(kind.strip(), kind.strip()), value.strip()


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def rows_of(path: Path, part: int | None) -> list[Row]:
    """The lines of a file; with `part`, the even ones (0) or the odd ones (1)."""
    with path.open(encoding="utf-8") as file:
        rows: list[Row] = [json.loads(line) for line in file if line.strip()]
    return rows if part is None else rows[part::2]


def _print(name: str, table: Table) -> None:
    print(f"\n{name}")
    for key, figures in table.items():
        if isinstance(figures, dict) and "f1" in figures:
            shown = "  ".join(
                f"{what} {figures[what]} {figures[f'{what}_interval']}"
                for what in ("precision", "recall", "f1")
            )
            print(f"  {key:10} n {figures['n']:4}  {shown}")
        else:
            print(f"  {key:10} {figures}")


def _main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("acts", "replies", "wishes"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--part", type=int, choices=(0, 1))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    tables: dict[str, Table] = {
        "acts": acts_table(rows_of(given.acts, given.part)),
        "broken": replies_table(rows_of(given.replies, given.part)),
        "wishes": wishes_table(rows_of(given.wishes, given.part)),
    }
    if given.json:
        print(json.dumps(tables))
        return
    for name, table in tables.items():
        _print(name, table)


if __name__ == "__main__":
    run(_main)
