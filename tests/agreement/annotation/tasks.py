"""A store with small conversations, and tasks made of them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from recjury.agreement.annotation.files import checksum
from recjury.agreement.annotation.task import TaskKey, read_key
from recjury.store import Store
from tests.report.filling import Played, evaluator, fill

HOSTILE = '</script><script>document.title="owned"</script><img src=x onerror=alert(1)>'
HOSTILE += "\x1b\u202e=1+1"


def store_with(
    folder: Path, *, records: int, systems: Sequence[str] = "ab", said: str = "Try Heat."
) -> str:
    """The address of a store; each system's verdicts follow the number of the record."""
    url = f"sqlite:///{folder / 'runs.db'}"
    with Store.open(url) as store:
        fill(
            store,
            [
                Played(
                    system,
                    str(record),
                    factors=[float((record + factor) % 5) for factor in range(12)],
                    scores=[(10.0 * (record % 10) + 2 * place,) * 4],
                    said=f"{said} {record}",
                )
                for record in range(records)
                for place, system in enumerate(systems)
            ],
            evaluators=(evaluator("core"),),
        )
    return url


def saved(key: TaskKey, rater: str, answers: Iterable[tuple[str, str, int]], path: Path) -> Path:
    """A file as the page saves it."""
    given = [list(each) for each in answers]
    parts = [key.id, key.page, rater, given]
    body = {
        "format": "recjury answers 1",
        "task": key.id,
        "page": key.page,
        "rater": rater,
        "answers": given,
        "checksum": checksum(json.dumps(parts, separators=(",", ":"))),
    }
    path.write_text(json.dumps(body), "utf-8")
    return path


def key_of(folder: Path) -> TaskKey:
    """The key of a task."""
    return read_key(folder / "key.json")
