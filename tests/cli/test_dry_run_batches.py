"""`--dry-run` says how long batches may take, and at which price."""

from pathlib import Path

import pytest

from tests.cli.front_door import recjury

JUDGES = """
model: {provider: openai-batch, base_url: "https://api.openai.com/v1", name: gpt-4o-mini}
evaluators: [{kind: core, debate: {kind: off}}]
"""


def test_the_price_is_half_and_the_wait_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, plain = tmp_path / "logs.jsonl", tmp_path / "plain.yaml"
    turns = '[{"speaker": "user", "text": "Hello."}, {"speaker": "system", "text": "Hello."}]'
    logs.write_text(f'{{"id": "1", "system": "mine", "interaction": {turns}}}\n', "utf-8")
    judges = tmp_path / "judges.yaml"
    judges.write_text(JUDGES, "utf-8")
    plain.write_text(JUDGES.replace("provider: openai-batch, ", ""), "utf-8")
    told = []
    for config in (judges, plain):
        ended = recjury(monkeypatch, capsys, "judge", logs, "--config", config, "--dry-run")
        told.append(" ".join((ended.out + ended.err).split()))
    slow, fast = told
    assert "main answers in batches: each step" in slow
    assert "may take up to 24h" in slow
    assert "prompts 0.075, replies 0.3, cached prompts 0.0375 US dollars" in slow
    assert "less 50% in batches" in slow
    assert "prompts 0.15, replies 0.6, cached prompts 0.075 US dollars" in fast
    assert "batches" not in fast
