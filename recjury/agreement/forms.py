"""Data sets with people's scores, each read as it was published, and CSV."""

import gzip
import json
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from recjury import plugins
from recjury.agreement.annotations import annotations
from recjury.agreement.labels import COLUMNS, UNKNOWN, Labels, labels_of
from recjury.corpora import Reading, Recording, read_recordings
from recjury.corpora.rows import objects
from recjury.errors import UserError
from recjury.files import nearest, read_text
from recjury.judges.rated_dialogues import sessions

Turns = Sequence[Mapping[str, Any]]


def crsarena(path: Path) -> Labels:
    """CRSArena-Eval (FACE, section 5.1): `crs_arena_eval.json`; labels are already majorities."""
    recordings = read_recordings([path], Reading("crsarena")).recordings
    about = {
        each.id: (each.corpus.removeprefix("crsarena-"), each.system, each.id)
        for each in recordings
    }
    rows: list[tuple[Any, ...]] = []
    for dialogue in json.loads(read_text(path)):
        id_ = str(dialogue["conv_id"])
        given = [(t["turn_ind"], t.get("turn_level_aggregated", {})) for t in dialogue["dialogue"]]
        given.append((-1, dialogue.get("dial_level_aggregated", {})))
        for turn, labels in given if id_ in about else ():
            rows += (
                (id_, turn, each, "people", float(n), *about[id_]) for each, n in labels.items()
            )
    return labels_of("crsarena-eval", rows, recordings, majority=True)


_TAG = re.compile(r"^(SYSTEM|USER)\s+")
_TURN_LABELS = ("relevance", "interestingness", "overall")
_DIALOGUE_LABELS = "understanding task-completion interest-arousal efficiency dialogue-overall"
_SHOWN = 4  # utterances for one rated turn: two before it, itself, and the user's reply
_RATED = 2  # which of them it is, from 0


def ab_redial(folder: Path) -> Labels:
    """AB-ReDial (Siro et al. 2023): a row for each dialogue and annotator, in two CSV files.

    A `ConvId` may name two dialogues, so its utterances are part of the key. Of a rated turn, the
    two utterances before it are the history.
    """
    rows: list[tuple[Any, ...]] = []
    said: dict[str, tuple[str, ...]] = {}
    talks: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
    for number, row in enumerate(_cells(folder / "annotated_dialogues.csv")):
        cells = tuple(v for k, v in row.items() if str(k).startswith("utterance") and v)
        id_ = _id(row["ConvId"], cells, said)
        talks[id_] = ((), cells)
        labels = {
            name.replace("-", "_"): row[name] for name in _DIALOGUE_LABELS.split() if row[name]
        }
        rows += ((id_, -1, metric, str(number), float(score)) for metric, score in labels.items())
    for number, row in enumerate(_cells(folder / "annotated_turns.csv")):
        for place in range(3):
            cells = tuple(row[f"utterance{place * _SHOWN + each}"] for each in range(_SHOWN))
            id_ = f"{row['ConvId']}#{'|'.join(cells)}"
            talks[id_] = (cells[:_RATED], cells[_RATED:])
            for name in _TURN_LABELS:
                if score := row.get(f"{name}{place + 1}"):
                    metric = "turn_overall" if name == "overall" else name
                    rows.append((id_, 0, metric, str(number), float(score)))
    cluster = families(
        {id_: [_TAG.sub("", cell) for cell in (*a, *b)] for id_, (a, b) in talks.items()}
    )
    recordings = (_ab_recording(id_, *talk) for id_, talk in talks.items())
    about = {id_: ("ab-redial", "person", cluster[id_]) for id_ in talks}
    return labels_of("ab-redial", [(*row, *about[row[0]]) for row in rows], recordings)


def _cells(path: Path) -> Iterator[dict[str, str]]:
    return (row.value for row in objects(path))


def _id(name: str, cells: tuple[str, ...], said: dict[str, tuple[str, ...]]) -> str:
    """The name, with a number if it is also that of a dialogue with other utterances."""
    for number in range(1, 10):
        id_ = name if number == 1 else f"{name}.{number}"
        if said.setdefault(id_, cells) == cells:
            return id_
    raise UserError(f"AB-ReDial: {name} names too many dialogues")


def _ab_recording(id_: str, history: Sequence[str], cells: Sequence[str]) -> Recording:
    before, said = ([_turn(cell) for cell in some if cell] for some in (history, cells))
    if history:
        said[0]["speaker"] = "system"  # the rated turn, whatever its tag says
    return _recording(id_, "ab-redial", "person", said, before)


def _turn(cell: str) -> dict[str, str]:
    tag = _TAG.match(cell)
    speaker = "system" if tag and tag[1] == "SYSTEM" else "user"
    return {"speaker": speaker, "text": _TAG.sub("", cell)}


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
        for number, session in enumerate(sessions(folder / f"{subset}.txt")):
            id_ = f"{subset}-{number}"
            said = [
                {"speaker": each.speaker, "text": each.text} for each in session if each.speaker
            ]
            recordings.append(_recording(id_, f"uss-{subset}", UNKNOWN, said))
            texts[id_] = [each.text for each in session]
            for place, line in enumerate(session):
                is_whole = line.speaker is None
                if is_whole or (place and session[place - 1].speaker == "system"):
                    metric = "satisfaction" if is_whole else "turn_satisfaction"
                    where = (id_, -1 if is_whole else place - 1, metric)
                    rows += (
                        (*where, str(n), score, subset) for n, score in enumerate(line.ratings)
                    )
    cluster = families(texts)
    return labels_of("uss", [(*row, UNKNOWN, cluster[row[0]]) for row in rows], recordings)


_SHARED = 3  # long utterances of two copies
_LONG = 20  # characters; shorter utterances, such as "Hello, how are you?", are too common
_EVERYWHERE = 30  # dialogues; an utterance that is in more of them tells nothing


def families(dialogues: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The first member of each dialogue's family: dialogues that share three long utterances.

    Copies of one dialogue are drawn together in a resample. AB-ReDial has some dialogues twice, and
    most of them are sessions of USS as well. An utterance counts from 20 letters on, without case
    and punctuation, and if at most 30 dialogues have it. Of a dialogue with fewer than three of
    them, all must be shared.
    """
    long = {name: _long_texts(texts) for name, texts in dialogues.items()}
    having: dict[str, list[str]] = defaultdict(list)
    for name, texts in long.items():
        for text in sorted(texts):
            having[text].append(name)
    together = Counter(
        pair
        for names in having.values()
        if len(names) <= _EVERYWHERE
        for pair in combinations(names, 2)
    )
    order = {name: place for place, name in enumerate(dialogues)}
    first = {name: name for name in dialogues}
    for (one, two), count in together.items():
        if count >= max(1, min(_SHARED, len(long[one]), len(long[two]))):
            kept, joined = sorted((first[one], first[two]), key=order.__getitem__)
            first.update((name, kept) for name, each in first.items() if each == joined)
    return first


def _long_texts(texts: Sequence[str]) -> frozenset[str]:
    plain = (re.sub(r"\W+", " ", text).strip().casefold() for text in texts)
    return frozenset(text for text in plain if len(text) >= _LONG)


def dialogue_eval(folder: Path) -> Labels:
    """Rated replies (PairEval, section 4.1) and dialogues: a set in each .jsonl file of a folder.

    A reply is turn 0 of a conversation whose history is its context. The label is the mean that
    was published (`target`); files without one are other things.
    """
    rows: list[tuple[Any, ...]] = []
    recordings = []
    for file in sorted(folder.glob("*.jsonl*")):
        name = file.name.partition(".")[0]
        for row in takewhile(lambda row: "target" in row, json_rows(file)):
            if not row.keys() >= {"id", "history"}:
                raise UserError(f"{file}: a row with `target` has `id` and `history`, too")
            system = str(row.get("system") or UNKNOWN)
            history = alternating(row["history"], row.get("speakers"))
            start = " ".join(re.findall(r"\w+", " ".join(row["history"][:3]).lower()))
            about = ("mean", float(row["target"]), name, system, f"{name}: {start}")
            if row.get("response") is None:
                recordings.append(_recording(row["id"], name, system, history))
                rows.append((row["id"], -1, "dialogue_quality", *about))
            else:
                recordings.append(_reply(row["id"], name, system, history, row["response"]))
                rows.append((row["id"], 0, "reply_quality", *about))
    return labels_of("dialogue-eval", rows, recordings)


def response_pairs(path: Path) -> Labels:
    """Replies and what an attack has made of them (Khalid and Lee 2022; PairEval, section 4.3.5).

    A JSON object a line: `id`, `attack`, `history`, `original`, `perturbed`. Both replies have the
    pair's id, of two systems; the label `original` is 1 or 0. Pairs of equal replies are left out.
    """
    rows: list[tuple[Any, ...]] = []
    recordings = []
    for row in json_rows(path, "id", "attack", "history", "original", "perturbed"):
        if row["original"] == row["perturbed"]:
            continue
        history = alternating(row["history"])
        for system, label in (("original", 1.0), ("perturbed", 0.0)):
            about = ("", label, row["attack"], system, row["id"])
            rows.append((row["id"], 0, "original", *about))
            recordings.append(_reply(row["id"], row["attack"], system, history, row[system]))
    return labels_of("response-pairs", rows, recordings)


def _reply(id_: str, corpus: str, system: str, history: Turns, text: str) -> Recording:
    return _recording(id_, corpus, system, [{"speaker": "system", "text": text}], history)


def _recording(id_: str, corpus: str, system: str, said: Turns, history: Turns = ()) -> Recording:
    about = {"id": id_, "corpus": corpus, "system": system}
    return Recording.model_validate(about | {"interaction": said, "history": history})


def json_rows(path: Path, *keys: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, packed as .gz or not, which have these keys. Raises UserError."""
    for number, line in enumerate(_unpacked(path).split("\n"), 1):
        try:
            row = json.loads(line) if line.strip() else None
        except ValueError:
            row = ()
        if row is None:
            continue
        if not isinstance(row, dict) or not row.keys() >= set(keys):
            with_keys = f" with {', '.join(keys)}" if keys else ""
            raise UserError(f"{path}:{number}: expected a JSON object{with_keys}")
        yield row


def _unpacked(path: Path) -> str:
    if path.suffix != ".gz":
        return read_text(path)
    try:
        return gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, UnicodeError, zlib.error) as error:
        raise UserError(f"{path}: cannot be unpacked: {error}") from None


def alternating(
    texts: Sequence[str], speakers: Sequence[str] | None = None
) -> list[dict[str, str]]:
    """Turns; without speakers, they alternate and the user has the last word."""
    turns = []
    for number, text in enumerate(texts):
        is_user = (len(texts) - number) % 2 == 1 if speakers is None else speakers[number] == "User"
        turns.append({"speaker": "user" if is_user else "system", "text": text})
    return turns


def from_csv(path: Path, columns: Mapping[str, str] = MappingProxyType({})) -> Labels:
    """CSV with the columns conversation, metric, score; turn, rater, subset, system, cluster if
    known. Semicolons and tabs divide columns, too. A row without a score is left out.

    `columns` are the file's names for ours. Where `score` is another column and none is for
    `metric`, the column's name is the metric. Raises UserError.
    """
    if unknown := [name for name in columns if name not in COLUMNS]:
        near = nearest(unknown[0], COLUMNS)
        raise UserError(f"{path}?{unknown[0]}: no such column{near}: {', '.join(COLUMNS)}")
    rows = list(objects(path))
    there = dict.fromkeys(own for row in rows for own in row.value)
    names = {name: columns.get(name, name) for name in COLUMNS}
    missing = {"metric": columns.get("score", ""), "score": "nan", "turn": "-1", "rater": "people"}
    missing |= {"subset": path.stem, "system": UNKNOWN}
    wanted = {"conversation", "score", *columns, *(() if "score" in columns else ("metric",))}
    lacking = [own for name, own in names.items() if name in wanted and own not in there]
    if rows and lacking:
        raise UserError(
            f"{path}: there is no column {' and no '.join(map(repr, lacking))}: there are "
            f"{', '.join(there)}. Other names: csv:{path}?conversation=COLUMN&score=COLUMN"
        )
    texts = [{name: row.text(own) for name, own in names.items()} for row in rows]
    frame = pd.DataFrame(texts, [row.where for row in rows], COLUMNS, dtype=object)
    for name, default in {**missing, "cluster": frame["conversation"]}.items():
        frame[name] = frame[name].mask(frame[name] == "", default)
    frame["score"] = _numbers(names["score"], frame["score"])
    frame["turn"] = _numbers(names["turn"], frame["turn"], whole=True).astype(int)
    frame = frame[frame["score"].abs() < math.inf]
    for name in ("conversation", "metric"):
        for where in frame.index[frame[name] == ""][:1]:
            raise UserError(f"{where}: `{names[name]}` is empty, and there is a score")
    return Labels(path.stem, frame.reset_index(drop=True))


def _numbers(column: str, texts: "pd.Series[str]", *, whole: bool = False) -> "pd.Series[float]":
    """The numbers of a column. Raises UserError with the place of one that is none."""
    numbers = pd.to_numeric(texts, errors="coerce")
    wrong = numbers % 1 != 0 if whole else numbers.isna() & (texts.str.lower() != "nan")
    for where in texts.index[wrong][:1]:
        kind = "a whole number" if whole else "a number"
        raise UserError(f"{where}: `{column}` is {kind}, got {texts[where]!r}")
    return numbers.astype(float)


FORMS: Mapping[str, Callable[[Path], Labels]] = {
    "crsarena-eval": crsarena,
    "ab-redial": ab_redial,
    "uss": uss,
    "dialogue-eval": dialogue_eval,
    "response-pairs": response_pairs,
    "annotations": annotations,
    "csv": from_csv,
}
"""What reads labels, by form."""


def open_labels(wanted: str) -> Labels:
    """The labels that `FORM:PATH` names; `module:function` of one's own returns Labels.

    `csv:PATH?score=rating&conversation=id` names the columns of a file. Raises UserError if there
    is no such form or file, if there is no label in it, or if a rater has two scores of one
    conversation or turn.
    """
    form, _, rest = wanted.partition(":")
    path, _, columns = (rest, "", "") if Path(rest).exists() else rest.partition("?")
    if form in FORMS:
        if not Path(path).exists():
            raise UserError(
                f"--labels {wanted}: there is no {path or 'path'}: expected {form}:PATH"
            )
        names = dict(pair.partition("=")[::2] for pair in columns.split("&") if pair)
        if names and form != "csv":
            raise UserError(f"--labels {wanted}: only csv:PATH has names of columns")
        labels = from_csv(Path(path), names) if names else FORMS[form](Path(path))
    elif path.isidentifier():
        labels = plugins.returned(wanted, Labels)
    else:
        raise UserError(
            f"--labels {wanted}: there is no form {form!r}{nearest(form, FORMS)}: expected "
            f"FORM:PATH with one of {', '.join(FORMS)}, or module:function of your own"
        )
    if not len(labels.frame):
        raise UserError(f"--labels {wanted}: there is no label in it")
    about = labels.frame.drop(columns=["score", "cluster"])
    for again in labels.frame[about.duplicated()][:1].itertuples():
        raise UserError(
            f"--labels {wanted}: {again.rater} has two scores of {again.metric} for "
            f"{again.conversation}: keep one, or name raters in the column `rater`"
        )
    return labels
