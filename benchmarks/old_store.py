"""Logs and ratings of a store of 0.2 as files: `python -m benchmarks.old_store OLD.db OUT_DIR`.

`recjury judge` reads logs.jsonl. `recjury align` reads ratings.csv, as scores or as labels. A
conversation has the id of its scenario there; `old_conversation` is its id in the store. If a store
has several campaigns, a third argument names one, or says how its id begins.

Conversations that failed or were not played are named on standard error and left out. So are means
over judges, and debates that were changed afterwards. A rating without a score is `nan`.
"""

import csv
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

CONVERSATIONS = """
SELECT c.id, c.system, c.repeat, l.digest, l.body,
  (SELECT reason FROM failure WHERE unit = c.id ORDER BY failed_at DESC)
FROM campaign_conversation p JOIN conversation c ON c.id = p.conversation
LEFT JOIN log l ON l.conversation = c.id
WHERE p.campaign = ? AND NOT p.set_aside ORDER BY p.ordinal"""

RATINGS = """
WITH version AS (
  SELECT *, name || iif(started_at < MAX(started_at) OVER (PARTITION BY name),
    '@' || substr(evaluator, 1, 4), '') AS label FROM campaign_evaluator WHERE campaign = ?),
attempt AS (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY evaluator, judging
    ORDER BY attempt DESC, created_at DESC) AS newest
  FROM evaluation WHERE log = ? AND fork_of IS NULL AND id IN (SELECT unit FROM stage))
SELECT v.label || '.' || lower(replace(r.factor, ' ', '_')), r.evaluator, ifnull(r.turn, -1),
  ifnull(r.score, 'nan'), a.judging, r.status, r.reason || r.rationale
FROM version v JOIN attempt a ON a.evaluator = v.evaluator AND a.judging < v.judgings
JOIN rating r ON r.evaluation = a.id
WHERE a.newest = 1 AND r.evaluator <> 'mean' ORDER BY v.ordinal, a.judging, r.stage, r.position"""

ABOUT = "old_conversation", "conversation", "subset", "system", "repeat"
RATING = "metric", "rater", "turn", "score", "judging", "status", "reason"


def main(old: Path, out: Path, campaign: str = "") -> None:
    with closing(opened(old)) as store:
        check(old, store)
        known = store.execute("SELECT id, name FROM campaign ORDER BY created_at").fetchall()
        chosen = [id_ for id_, name in known if name == campaign or id_.startswith(campaign)]
        if len(chosen) != 1:
            sys.exit(f"name one campaign of {old}: {', '.join(map(' '.join, known))}")
        out.mkdir(parents=True, exist_ok=True)
        logs = (out / "logs.jsonl").open("w", encoding="utf-8")
        ratings = (out / "ratings.csv").open("w", encoding="utf-8", newline="")
        with logs, ratings:
            table = csv.writer(ratings)
            table.writerow(ABOUT + RATING)
            for id_, system, repeat, digest, body, why in store.execute(CONVERSATIONS, chosen):
                if body is None:
                    print(f"{id_} ({system}): {why or 'not played'}", file=sys.stderr)
                    continue
                log = json.loads(body)
                recording = log["scenario"] | {
                    "id": log["scenario"].get("pair") or log["scenario"]["record"],
                    "system": system,
                    "repeat": repeat,
                    "interaction": log["interaction"],
                    "linked": log.get("items_linked", False),
                    "ending": "offline" if log["ending"] == "offline" else "recorded",
                    "old_conversation": id_,
                }
                logs.write(json.dumps(recording, ensure_ascii=False) + "\n")
                about = id_, recording["id"], recording["corpus"], system, repeat
                table.writerows(about + row for row in store.execute(RATINGS, [*chosen, digest]))


def opened(path: Path) -> sqlite3.Connection:
    """The file, for reading. Raises SystemExit with one line."""
    if not path.is_file():
        sys.exit(f"there is no file {path}")
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def check(path: Path, store: sqlite3.Connection) -> None:
    """Raises SystemExit with one line for what is no store of 0.2."""
    try:
        if store.execute("PRAGMA application_id").fetchone() == (0x7265636A,):
            sys.exit(f"{path} is a store of this version: `recjury export` writes its files")
        (schema,) = store.execute("SELECT number FROM schema_version").fetchone()
    except sqlite3.DatabaseError as error:
        sys.exit(f"{path} is no store of recjury 0.2: {error}")
    if schema != 5:
        sys.exit(f"{path} has tables {schema}, not those of 0.2 (5)")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
