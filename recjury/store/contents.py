"""All that trials left behind, read together and checked row by row and stage by stage."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection

from recjury.errors import StoreError
from recjury.records import ConversationLog, Rating, Statement, Turn
from recjury.store.calls import CallReader
from recjury.store.debates import Debate, StoredDebate, read_debates
from recjury.store.face import read_face
from recjury.store.failures import read_unfinished
from recjury.store.logs import StoredLog, read_logs
from recjury.store.ratings import StoredRating, read_ratings, seals_by_stage
from recjury.store.texts import Damaged, refuse
from recjury.store.trials import check_stages, read_trials


class Content(NamedTuple):
    """One trial's finished stages; what is not there yet is None or empty."""

    log: ConversationLog | None
    ratings: tuple[Rating, ...]
    debate: Debate | None
    face_calls: tuple[str, ...] = ()

    def calls(self) -> tuple[str, ...]:
        """The identities of all model calls behind it, each once, in order."""
        turns = () if self.log is None else self.log.interaction
        statements = () if self.debate is None else self.debate.transcript.statements
        sources: tuple[Turn | Rating | Statement, ...] = (*turns, *self.ratings, *statements)
        own = (call for source in sources for call in source.calls)
        return tuple(dict.fromkeys((*own, *self.face_calls)))


def read_contents(
    connection: Connection, trials: Iterable[str], damaged: Damaged = refuse
) -> dict[str, Content]:
    """The content of each of `trials`; `damaged` hears of every row that was altered, and of
    stages that have lost or gained rows."""
    wanted = tuple(trials)
    logs = read_logs(connection, wanted, damaged)
    ratings = read_ratings(connection, wanted, damaged)
    debates = read_debates(connection, wanted, damaged)
    face = read_face(connection, wanted, damaged)
    seals = {
        trial: _seals(logs.get(trial), ratings.get(trial, ()), debates.get(trial))
        for trial in wanted
    }
    for trial, stored in face.items():
        seals[trial].update(stored.seals)
    check_stages(connection, seals, damaged)
    return {
        trial: Content(
            log=logs[trial].log if trial in logs else None,
            ratings=tuple(stored.rating for stored in ratings.get(trial, ())),
            debate=debates[trial].debate if trial in debates else None,
            face_calls=face[trial].calls() if trial in face else (),
        )
        for trial in wanted
    }


def _seals(
    log: StoredLog | None, ratings: Iterable[StoredRating], debate: StoredDebate | None
) -> dict[str, list[str]]:
    seals = seals_by_stage(ratings)
    if log is not None:
        seals["converse"] = [log.digest, *seals.get("converse", ())]
    if debate is not None:
        seals["debate"] = list(debate.seals)
    return seals


def integrity(connection: Connection, calls: CallReader, trial: str) -> tuple[str, ...]:
    """What is wrong with a trial's rows and with the model calls behind them, a line each.

    Every text of every call is held against its hash and every row against its seal; empty
    when all is as it was written.
    """
    found: list[str] = []

    def note(error: StoreError) -> None:
        found.append(str(error))

    try:
        read_trials(connection, [trial])
    except StoreError as error:
        note(error)
    read_unfinished(connection, trial, note)
    for call in read_contents(connection, [trial], note)[trial].calls():
        try:
            calls.call(call)
        except StoreError as error:
            note(error)
    return tuple(found)
