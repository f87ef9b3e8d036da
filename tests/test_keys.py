"""A key that a system or an endpoint says back is nowhere: not in the store, nor in what leaves it.

The campaign runs in a process of its own, with a real system and endpoint behind HTTP.
"""

import base64
import json
import os
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest

from recjury.errors import CallFailed, DataError, ParseError
from recjury.llm import Completion, EndpointSpec
from recjury.llm.batch.batch import CallBatch, Refusal
from recjury.llm.batch.state import BatchState
from recjury.safe_text import hide_secret, without_keys
from recjury.store import Store
from tests.agents.http_system import Answer as SystemAnswer
from tests.agents.http_system import Asked, SystemServer, says
from tests.campaign import player
from tests.endpoint import Answer, Body, Fault, Script, ScriptedEndpoint, completion

KEY = 'sk-Zq8/R2v"t0Lw+N5xYb7Kc1Mf9Hd3Js'
OF_SYSTEM = "Vx3-Tn6~Pq0.Wd8_Gk2=Bs5"
OF_ENVIRONMENT = "Hm4Jr7Ly9Ec1Ua2Oz6If3"
PASSWORD = "Qe5Wr8Ty2Ui7Op1As4Df"
SECRETS = (KEY, OF_SYSTEM, OF_ENVIRONMENT, PASSWORD)
STORE = "sqlite:///runs.db"
CAMPAIGN = """
scenarios: [{{corpus: sample, limit: 3}}]
systems: [{{kind: http, name: own, url: "{system}", key_env: KEY_OF_THE_SYSTEM, retries: 0}}]
model: {{base_url: "{endpoint}", name: scripted, key_env: KEY_OF_THE_MODEL, retries: 1}}
evaluators: [core, outcome]
"""


def forms(secret: str) -> list[str]:
    """How a secret may be said back, whole or in part."""
    return [
        secret,
        json.dumps(secret),
        quote(secret, safe=""),
        base64.b64encode(f"user:{secret}".encode()).decode(),
        f"{secret[:9]}...",
        f"...{secret[-9:]}",
        f"({secret[1:-1][:20]})",
    ]


def traces(secret: str) -> list[bytes]:
    """Parts of a secret, one of which is in each of its forms."""
    encoded = base64.b64encode(f"user:{secret}".encode()).decode()
    shown = (secret[:8], secret[-8:], secret[4:12], json.dumps(secret)[1:9], encoded[12:24])
    return [part.encode() for part in (*shown, quote(secret[:8], safe=""))]


SAID = [form for secret in SECRETS for form in forms(secret)]


def _system(asked: Asked) -> SystemAnswer:
    said = " ".join(SAID)
    return says({"text": f"Try this: {said}", "items": [f"The film {said}", {"id": SAID[0]}]})


def _model() -> Script:
    """Plays every part, and says a secret in each reply, name, fingerprint and error."""
    numbers = count()

    def answer(body: Body) -> Answer:
        number = next(numbers)
        said = SAID[number % len(SAID)]
        if number % 5 == 1:
            return Fault("status", 500, json.dumps({"error": {"code": said, "message": said}}))
        if player.kind(body) == "judge" and number % 7 == 2:
            return Fault("status", 400, said)
        text = player.play(body)
        assert isinstance(text, str)
        reply = completion(text.replace("I ", f"I {said} ", 1), model=f"m-{said}")
        return {**reply, "system_fingerprint": said}

    return answer


def _environment() -> dict[str, str]:
    own = {name: text for name, text in os.environ.items() if name != "RECJURY_LOG"}
    return {
        **own,
        "KEY_OF_THE_MODEL": KEY,
        "KEY_OF_THE_SYSTEM": OF_SYSTEM,
        "SOME_API_TOKEN": OF_ENVIRONMENT,
        "SOME_PROXY": f"http://user:{PASSWORD}@127.0.0.1:9",
        "RECJURY_LOG": "debug,json",
    }


def _recjury(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "recjury", *arguments, "--store", STORE]
    environment = {**_environment(), "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


def _rows(store: Path) -> Iterator[bytes]:
    """Every value of every row, unpacked."""
    with sqlite3.connect(store) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                for value in row:
                    plain = value if isinstance(value, bytes) else str(value).encode()
                    yield plain
                    if plain.startswith((b"\x78", b"\x58", b"\x68")):
                        try:
                            yield zlib.decompress(plain)
                        except zlib.error:
                            continue


@pytest.mark.slow
def test_what_is_said_back_is_stored_shown_and_exported_without_keys(tmp_path: Path) -> None:
    with SystemServer(_system) as system, ScriptedEndpoint(_model(), key=KEY) as endpoint:
        text = CAMPAIGN.format(system=system.url, endpoint=endpoint.url)
        (tmp_path / "campaign.yaml").write_text(text, "utf-8")
        runs = [_recjury(tmp_path, "run", "campaign.yaml", "--json")]
        runs += [_recjury(tmp_path, "run", "campaign.yaml", "--json")]
        assert {run.returncode for run in runs} <= {0, 3}, runs[0].stderr
        prompts = json.dumps(endpoint.bodies).encode()
    runs += [
        _recjury(tmp_path, *words)
        for words in (
            ("status",),
            ("report", "--out", "report.html"),
            *(("export", form, "--format", form) for form in ("csv", "jsonl", "parquet")),
            ("explain", "outcome.recall@1"),
        )
    ]
    shown = [each.stdout + each.stderr for each in runs]
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    places = {"shown": shown, "files": files, "rows": [*_rows(tmp_path / "runs.db")]}
    for place, texts in {**places, "prompts": [prompts]}.items():
        found = b"\n".join(texts)
        assert b"Try this: [key]" in found or place == "shown"
        assert b"[key]" in found
        assert [part for key in SECRETS for part in traces(key) if part in found] == []


def test_the_secret_of_a_store_is_a_key(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        secret = store.recorder().secret.hex()
    assert without_keys(f"code {secret}, {secret[:14]}...") == "code [key], [key]..."


def test_an_error_has_no_key_in_its_message() -> None:
    hide_secret(KEY)
    for error in (CallFailed(f"no {KEY}"), DataError(f"no {KEY}"), ParseError("no", KEY)):
        assert KEY not in str(error)
        assert "[key]" in str(error)


def test_what_refuses_a_batch_says_no_key() -> None:
    hide_secret(KEY)
    batch = CallBatch(["c1"])
    said = [{"code": KEY, "message": f"Incorrect key: {KEY}", "line": 1}]
    batch.state = BatchState.model_validate(
        {"id": "b", "status": "failed", "errors": {"data": said}}
    )
    refusal = Refusal(batch, EndpointSpec(base_url="http://127.0.0.1:9/v1", name="m"))
    for error in (refusal.failure, refusal.calls["c1"]):
        assert "[key]" in str(error)
        assert KEY[:8] not in str(error)


def test_a_reply_that_says_a_key_has_no_log_probabilities_that_spell_it() -> None:
    hide_secret(OF_SYSTEM)
    spelled = tuple((sign, -0.1, ()) for sign in OF_SYSTEM)
    assert Completion(OF_SYSTEM, logprobs=spelled).without_keys().logprobs == ()
    harmless = Completion("<rating>3</rating>", logprobs=(("3", -0.1, ()),))
    assert harmless.without_keys() is harmless
