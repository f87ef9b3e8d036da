"""Data sets with people's scores, each read as it was published, and CSV."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recjury.agreement.annotations import annotations
from recjury.agreement.families import families
from recjury.agreement.labels import COLUMNS, Labels, labels_of, numbers
from recjury.corpora import Recording
from recjury.errors import UserError
from recjury.files import nearest, read_text

_HIGHEST = 5.0  # of the scales of CRSArena-Eval and AB-ReDial


def crsarena(path: Path) -> Labels:
    """CRSArena-Eval (FACE, section 5.1): `crs_arena_eval.json`; labels are already majorities."""
    rows: list[tuple[Any, ...]] = []
    recordings = []
    for dialogue in _json(path):
        id_ = str(dialogue["conv_id"])
        system, subset, _ = (*id_.split("_", 2), "", "")[:3]
        about = (subset, f"{system}_{subset}", id_)
        turns = dialogue["dialogue"]
        recordings.append(_recording(id_, f"crsarena-{subset}", about[1], turns))
        given = [(turn["turn_ind"], turn.get("turn_level_aggregated", {})) for turn in turns]
        given.append((-1, dialogue.get("dial_level_aggregated", {})))
        for turn, labels in given:
            for metric, score in numbers(labels, 0, _HIGHEST).items():
                rows.append((id_, turn, metric, "people", score, *about))
    return labels_of("crsarena-eval", rows, recordings, majority=True)


def _recording(id_: str, corpus: str, system: str, turns: Sequence[Mapping[str, Any]]) -> Recording:
    said = [
        {"speaker": "user" if turn["role"] == "USER" else "system", "text": turn["utterance"]}
        for turn in turns
    ]
    return Recording.model_validate(
        {"id": id_, "corpus": corpus, "system": system, "interaction": said}
    )


_TAG = re.compile(r"^(SYSTEM|USER)\s+")
_TURN_LABELS = {
    "relevance": "relevance",
    "interestingness": "interestingness",
    "overall": "turn_overall",
}
_DIALOGUE_LABELS = {
    "understanding": "understanding",
    "task-completion": "task_completion",
    "interest-arousal": "interest_arousal",
    "efficiency": "efficiency",
    "dialogue-overall": "dialogue_overall",
}
_SHOWN = 4  # utterances for one rated turn: two before it, itself, and the user's reply
_RATED = 2  # its place among them


def ab_redial(folder: Path) -> Labels:
    """AB-ReDial (Siro et al. 2023): a row for each dialogue and annotator, in two CSV files.

    A `ConvId` may name two dialogues, so its utterances are part of the key. Of a rated turn, the
    two utterances before it are the history.
    """
    rows: list[tuple[Any, ...]] = []
    said: dict[str, tuple[str, ...]] = {}
    talks: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
    for number, row in enumerate(_csv(folder / "annotated_dialogues.csv")):
        cells = tuple(v for k, v in row.items() if k.startswith("utterance") and v)
        id_ = _id(row["ConvId"], cells, said)
        talks[id_] = ((), cells)
        labels = {_DIALOGUE_LABELS[k]: v for k, v in row.items() if k in _DIALOGUE_LABELS and v}
        rows += ((id_, -1, metric, str(number), float(score)) for metric, score in labels.items())
    for number, row in enumerate(_csv(folder / "annotated_turns.csv")):
        for place in range(3):
            cells = tuple(row[f"utterance{place * _SHOWN + each}"] for each in range(_SHOWN))
            id_ = f"{row['ConvId']}#{'|'.join(cells)}"
            talks[id_] = (cells[:_RATED], cells[_RATED:])
            for column, metric in _TURN_LABELS.items():
                if score := row.get(f"{column}{place + 1}"):
                    rows.append((id_, 0, metric, str(number), float(score)))
    cluster = families(
        {id_: [_TAG.sub("", cell) for cell in (*a, *b)] for id_, (a, b) in talks.items()}
    )
    recordings = (_ab_recording(id_, *talk) for id_, talk in talks.items())
    about = {id_: ("ab-redial", "person", cluster[id_]) for id_ in talks}
    return labels_of("ab-redial", [(*row, *about[row[0]]) for row in rows], recordings)


def _id(name: str, cells: tuple[str, ...], said: dict[str, tuple[str, ...]]) -> str:
    """The name, with a number if it is also that of a dialogue with other utterances."""
    for number in range(1, 10):
        id_ = name if number == 1 else f"{name}.{number}"
        if said.setdefault(id_, cells) == cells:
            return id_
    raise UserError(f"AB-ReDial: {name} names too many dialogues")


def _ab_recording(id_: str, history: Sequence[str], cells: Sequence[str]) -> Recording:
    turns = [{"speaker": _speaker(cell), "text": _TAG.sub("", cell)} for cell in cells if cell]
    if history:
        turns[0]["speaker"] = "system"  # the rated turn, whatever its tag says
    before = [{"speaker": _speaker(cell), "text": _TAG.sub("", cell)} for cell in history]
    return Recording.model_validate(
        {"id": id_, "corpus": "ab-redial", "system": "person", "history": before}
        | {"interaction": turns}
    )


def _speaker(cell: str) -> str:
    found = _TAG.match(cell)
    return "system" if found and found[1] == "SYSTEM" else "user"


USS = ("SGD", "MWOZ", "ReDial", "CCPE")


def uss(folder: Path) -> Labels:
    """USS (Sun et al. 2021): satisfaction from 1 to 5 with dialogues, and with system turns.

    Users' turns carry the ratings; what is rated is the system's turn right before.
    """
    found = [name for name in USS if (folder / f"{name}.txt").is_file()]
    if not found:
        raise UserError(f"{folder} has none of {', '.join(f'{name}.txt' for name in USS)}")
    rows: list[tuple[Any, ...]] = []
    recordings, texts = [], {}
    for subset in found:
        for number, session in enumerate(_sessions(folder / f"{subset}.txt")):
            id_ = f"{subset}-{number}"
            turns = [{"role": role, "utterance": text} for role, text, _ in session[:-1]]
            recordings.append(_recording(id_, f"uss-{subset}", "unknown", turns))
            texts[id_] = [turn["utterance"] for turn in turns]
            rated = [(-1, "satisfaction", session[-1][2])]
            rated += (
                (place - 1, "turn_satisfaction", scores)
                for place, (_, _, scores) in enumerate(session[:-1])
                if scores and place and session[place - 1][0] == "SYSTEM"
            )
            for turn, metric, scores in rated:
                rows += (
                    (id_, turn, metric, str(n), score, subset) for n, score in enumerate(scores)
                )
    cluster = families(texts)
    return labels_of("uss", [(*row, "unknown", cluster[row[0]]) for row in rows], recordings)


def _sessions(path: Path) -> Iterator[list[tuple[str, str, list[float]]]]:
    """The lines of each session: role, text, ratings; the last line is the dialogue's."""
    session: list[tuple[str, str, list[float]]] = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if len(cells) == 4:
            scores = [float(score) for score in cells[3].split(",") if score.strip()]
            session.append((cells[0], cells[1], scores))
            if cells[1] == "OVERALL":
                yield session
                session = []
        elif line.strip():
            raise UserError(f"{path}:{number}: expected role, text, action and ratings, with tabs")


RESPONSE_SETS = (
    "dailydialog-grade",
    "dailydialog-zhao",
    "convai2-grade",
    "convai2-usr",
    "topicalchat-usr",
    "fed-turn",
    "empathetic-grade",
)


def dialogue_eval(folder: Path) -> Labels:
    """Rated replies (PairEval, section 4.1) and FED's dialogues, a JSON object a line.

    A reply is turn 0 of a conversation whose history is its context. The label is the mean that
    was published (`target`).
    """
    rows: list[tuple[Any, ...]] = []
    recordings = []
    for name in (*RESPONSE_SETS, "fed-dialogue"):
        for row in _rows_of(folder, name):
            is_reply = row.get("response") is not None
            history = _alternating(row["history"], row.get("speakers"))
            reply = [{"speaker": "system", "text": row["response"]}] if is_reply else history
            system = str(row.get("system") or "unknown")
            recordings.append(
                Recording.model_validate(
                    {"id": row["id"], "corpus": name, "system": system, "interaction": reply}
                    | {"history": history if is_reply else []}
                )
            )
            metric, turn = ("reply_quality", 0) if is_reply else ("dialogue_quality", -1)
            start = " ".join(re.findall(r"\w+", " ".join(row["history"][:3]).lower()))
            about = (name, system, f"{name}: {start}")
            rows.append((row["id"], turn, metric, "mean", float(row["target"]), *about))
    if not rows:
        raise UserError(f"{folder} has none of {', '.join(RESPONSE_SETS)} as .jsonl or .jsonl.gz")
    return labels_of("dialogue-eval", rows, recordings)


def _rows_of(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    import gzip

    plain, packed = folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"
    if packed.is_file():
        text = gzip.decompress(packed.read_bytes()).decode()
    else:
        text = read_text(plain) if plain.is_file() else ""
    return (json.loads(line) for line in text.split("\n") if line.strip())


def _alternating(texts: Sequence[str], speakers: Sequence[str] | None) -> list[dict[str, str]]:
    """Turns; without speakers, they alternate and the user has the last word."""
    turns = []
    for number, text in enumerate(texts):
        is_user = (len(texts) - number) % 2 == 1 if speakers is None else speakers[number] == "User"
        turns.append({"speaker": "user" if is_user else "system", "text": text})
    return turns


def from_csv(path: Path) -> Labels:
    """CSV with the columns conversation, metric, score; turn, rater, subset, system, cluster if
    known. Semicolons and tabs divide columns, too.
    """
    needed, defaults = ("conversation", "metric", "score"), {"turn": "-1", "rater": "people"}
    rows = []
    for number, row in enumerate(_csv(path), 2):
        if missing := [column for column in needed if column not in row]:
            near = nearest(missing[0], row)
            raise UserError(f"{path}: there is no column {missing[0]!r}{near}: {', '.join(row)}")
        known = (
            defaults
            | {"subset": path.stem, "system": "unknown"}
            | {k: v for k, v in row.items() if v}
        )
        known.setdefault("cluster", known["conversation"])
        try:
            values = known | {"turn": int(known["turn"]), "score": float(known["score"])}
        except (KeyError, ValueError):
            raise UserError(
                f"{path}:{number}: `score` is a number and `turn` a whole one, got "
                f"{row.get('score')!r} and {row.get('turn')!r}"
            ) from None
        rows.append(tuple(values[column] for column in COLUMNS))
    return labels_of(path.stem, rows)


def _csv(path: Path) -> Iterator[dict[str, str]]:
    text = read_text(path)
    csv.field_size_limit(2**31 - 1)
    first = text.partition("\n")[0]
    divider = max(",;\t", key=first.count)
    return iter(list(csv.DictReader(text.splitlines(keepends=True), delimiter=divider)))


def _json(path: Path) -> list[Any]:
    try:
        values = json.loads(read_text(path))
    except ValueError as error:
        raise UserError(f"{path}: is no JSON: {error}") from None
    if not isinstance(values, list):
        raise UserError(f"{path}: a list of dialogues is expected")
    return values


FORMS: Mapping[str, Callable[[Path], Labels]] = {
    "crsarena-eval": crsarena,
    "ab-redial": ab_redial,
    "uss": uss,
    "dialogue-eval": dialogue_eval,
    "annotations": annotations,
    "csv": from_csv,
}
"""What reads labels, by form."""
