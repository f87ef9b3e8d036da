"""Conversations and evaluations of them, where there were trials."""

from alembic import op

from recjury.store.migrations.apart.moving import Moved, link_campaign, move_trial
from recjury.store.migrations.apart.rows import Database
from recjury.store.migrations.apart.tables import create_indexes, create_tables

revision = "0004_apart"
down_revision = "0003_unfinished"

_REBUILT = (
    "call",
    "stage",
    "rating",
    "statement",
    "debate",
    "failure",
    "face_turn",
    "face_score",
)
_MOVED_AS_THEY_ARE = ("call", "debate", "statement", "face_turn", "face_score")


def upgrade() -> None:
    """Make the new tables, fill them, and drop the old ones."""
    for table in _REBUILT:
        op.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    _rename()
    create_tables()
    for table in _MOVED_AS_THEY_ARE:
        # The columns are the same, but for the name of one.
        op.execute(f"INSERT INTO {table} SELECT * FROM old_{table}")  # noqa: S608
    _move(Database(op.get_bind()))
    for table in _REBUILT:
        op.execute(f"DROP TABLE old_{table}")
    create_indexes()


def _rename() -> None:
    op.execute("DROP INDEX ix_trial_system")
    op.execute("ALTER TABLE trial RENAME TO conversation")
    op.execute("ALTER TABLE conversation ADD COLUMN identity VARCHAR")
    op.execute("ALTER TABLE campaign ADD COLUMN identity VARCHAR")
    op.execute("ALTER TABLE campaign_trial RENAME TO campaign_conversation")
    op.execute("ALTER TABLE campaign_conversation RENAME COLUMN trial TO conversation")
    op.execute("ALTER TABLE campaign_conversation ADD COLUMN set_aside INTEGER DEFAULT 0 NOT NULL")
    op.execute("ALTER TABLE log RENAME COLUMN trial TO conversation")
    op.execute("ALTER TABLE log ADD COLUMN seconds VARCHAR")
    op.execute("ALTER TABLE log ADD COLUMN costs VARCHAR")


def _move(database: Database) -> None:
    configs = _configs(database)
    by_trial: dict[str, str] = {}
    for row in database.rows("SELECT conversation, campaign FROM campaign_conversation"):
        by_trial[row["conversation"]] = row["campaign"]
    moved: dict[str, Moved] = {}
    for row in database.rows("SELECT * FROM conversation ORDER BY rowid"):
        config = configs.get(by_trial.get(row["id"], ""), {})
        trial = {name: value for name, value in row.items() if name != "identity"}
        moved[row["id"]] = move_trial(database, trial, config)
    for row in database.rows("SELECT id, created_at FROM campaign"):
        link_campaign(database, row["id"], configs.get(row["id"], {}), moved, row["created_at"])
    _share_evaluators(database)
    database.do(
        "INSERT INTO failure SELECT id, trial, "
        "CASE WHEN stage LIKE '%/%' THEN substr(stage, instr(stage, '/') + 1) ELSE stage END, "
        "reason, failed_at, log FROM old_failure"
    )


def _share_evaluators(database: Database) -> None:
    """Campaigns that differed in judges alone are one: the newer has the evaluators of both."""
    database.do(
        "INSERT OR IGNORE INTO campaign_evaluator "
        "SELECT newer.id, evaluator, link.name, ordinal + 100, judgings, metrics, stages, "
        "started_at "
        "FROM campaign_evaluator AS link JOIN campaign AS older ON older.id = link.campaign "
        "JOIN campaign AS newer ON newer.identity = older.identity "
        "AND newer.created_at > older.created_at"
    )


def _configs(database: Database) -> dict[str, dict[str, object]]:
    """The file of each campaign, as its latest run had it."""
    found: dict[str, dict[str, object]] = {}
    for row in database.rows("SELECT campaign, setup FROM run ORDER BY id"):
        setup = database.json(row["setup"])
        config = setup.get("config") if isinstance(setup, dict) else None
        found[row["campaign"]] = config if isinstance(config, dict) else {}
    return found
