"""Where the scenarios of a campaign come from: corpora, folders, catalogues alone."""

import asyncio
import json
from pathlib import Path

import pytest

from recjury.campaign import read_config, run
from recjury.errors import UserError
from recjury.records import ConversationLog
from recjury.store import Store


def played(tmp_path: Path, scenarios: str, systems: str = "[popular]") -> list[ConversationLog]:
    """The logs of a campaign without a model, in the order of its plan."""
    path = tmp_path / "c.yaml"
    path.write_text(f"systems: {systems}\nscenarios: {scenarios}\n")
    with Store(tmp_path / "c.db") as store:
        asyncio.run(run(read_config(path), store))
        ids = [row.conversation for row in store.played("c")]
        return [log for _, log in store.logs(ids)]


@pytest.mark.parametrize(
    ("scenarios", "word"),
    [
        ("{limit: 3}", "corpus"),
        ("{corpus: sample, catalogue: sample, draw: 3}", "either"),
        ("{catalogue: sample}", "draw"),
        ("{corpus: sample, draw: 3}", "draw"),
        ("{catalogue: sample-books, draw: 300}", "300"),
        ("{corpus: sampel}", "did you mean sample"),
        ("{corpus: sample, split: dev}", "'dev'"),
        ("[sample, {catalogue: sample, draw: 3}]", "two corpora"),
    ],
)
def test_scenarios_that_cannot_be_had(tmp_path: Path, scenarios: str, word: str) -> None:
    with pytest.raises(UserError, match=r"c\.yaml:2: scenarios") as error:
        played(tmp_path, scenarios)
    assert word in str(error.value)


def test_a_catalogue_alone(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "domain.yaml").write_text("domain: product\n")
    rows = [{"id": f"p{n}", "title": "Lamp", "type": f"kind {n % 4}"} for n in range(12)]
    (folder / "items.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    logs = played(tmp_path, "{catalogue: shop, draw: 6, seed: 2}", "[retrieval]")
    assert len(logs) == 6
    for log in logs:
        assert log.scenario.domain == "product"
        assert log.scenario.id.startswith("2-p")
        assert log.scenario.wishes
        assert log.ending == "hit"


def test_a_seed_draws_among_the_scenarios_of_a_corpus(tmp_path: Path) -> None:
    first = {log.scenario.id for log in played(tmp_path, "{corpus: sample, limit: 4}")}
    (tmp_path / "c.db").unlink()
    drawn = {log.scenario.id for log in played(tmp_path, "{corpus: sample, limit: 4, seed: 1}")}
    assert len(first) == len(drawn) == 4
    assert first != drawn


def test_the_example_of_an_own_corpus(tmp_path: Path) -> None:
    config = read_config(Path(__file__).parents[2] / "examples" / "phones.yaml")
    with Store(tmp_path / "c.db") as store:
        asyncio.run(run(config, store))
        ids = [row.conversation for row in store.played("phones")]
        logs = [log for _, log in store.logs(ids)]
    assert len(logs) == 6
    assert {log.scenario.domain for log in logs} == {"phone"}
    assert not any(log.failed for log in logs)
