"""No secret is left in text that is shown, and long text takes no longer than its length says."""

import base64
import html
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from recjury import safe_text
from recjury.safe_text import (
    hide_environment,
    hide_secret,
    is_sensitive,
    without_keys,
    without_secrets,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Token hidden failed", "Authorization: [key] failed"),
        ("Authorization: ApiKey hidden, x", "Authorization: [key], x"),
        ("Cookie: a=hidden; b=hidden", "Cookie: [key]"),
        ("at https://user:hid/den@host/p", "at https://[key]@host/p"),
        ("at https://user:hid@den@host/p", "at https://[key]@host/p"),
        ('{"api_key": "two words", "b": 2}', '{"api_key": [key], "b": 2}'),
        ("url=https://host/?api_key=hidden&page=7", "url=https://host/?api_key=[key]&page=7"),
        (f"ghp_{'a' * 36} and hf_{'b' * 30}", "[key] and [key]"),
        (f"AKIA{'A' * 16} and sk-abcdefgh", "[key] and [key]"),
        ("password: 12345", "password: [key]"),
        # What is no secret stays:
        ("max_token: 800, then", "max_token: 800, then"),
        ("http://localhost:8000/models/org@v1", "http://localhost:8000/models/org@v1"),
    ],
)
def test_secrets_are_replaced_and_the_rest_stays(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


def test_a_known_secret_that_begins_as_another_leaves_no_tail() -> None:
    secrets = ["known-to-1" + "x" * length for length in range(8)]
    for secret in secrets:
        hide_secret(secret)
    assert without_secrets(" ".join(secrets)) == " ".join(["[key]"] * 8)


SECRET = 'sk-Zq8/R2v"t0Lw+N5xYb7Kc1Mf9Hd3Js'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (SECRET, "[key]"),
        (f"Bearer {SECRET}, {SECRET}", "Bearer [key], [key]"),
        ("sk-Zq8/R...", "[key]..."),
        ("sk-Zq8/...", "sk-Zq8/..."),
        ("...9Hd3Js)", "...9Hd3Js)"),
        ("...Mf9Hd3Js)", "...[key])"),
        ("x0Lw+N5xYb7Kc1Mf9x", "x[key]x"),
        (json.dumps(SECRET), '"[key]"'),
        (json.dumps(SECRET).replace("/", r"\/"), '"[key]"'),
        (f"?key={quote(SECRET, safe='')}&page=7", "?key=[key]&page=7"),
        (f"<b>{html.escape(SECRET)}</b>", "<b>[key]</b>"),
        (base64.b64encode(f"user:{SECRET}".encode()).decode(), "dXNlcjp[key]M="),
        ("t0Lw" * 10**5 + "Yb7Kc1Mf" * 10**5, "t0Lw" * 10**5 + "[key]" * 10**5),
    ],
)
def test_a_key_is_removed_whole_in_part_and_encoded(text: str, shown: str) -> None:
    hide_secret(SECRET)
    assert without_keys(text) == shown


@pytest.mark.parametrize("secret", ["", "EMPTY", "ollama", "12345678", "anything", "Placeholder"])
def test_what_is_too_common_to_be_a_key_stays(secret: str) -> None:
    hide_secret(secret)
    assert without_keys(f"{secret} stays") == f"{secret} stays"


def test_a_word_at_the_beginning_of_a_key_stays() -> None:
    hide_secret("recommenderx9Tq4Zu7")
    assert without_keys("a recommender: recommenderx9Tq4Zu7") == "a recommender: [key]"


def test_secrets_of_the_environment_are_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "a9Bc8De7")
    monkeypatch.setenv("SOME_PROXY", "http://user:f6Gh5Ij4@host:1")
    monkeypatch.setenv("KEY_FILE_KEY", str(tmp_path))
    monkeypatch.setenv("WRONG_URL", "http://[::1/p")
    monkeypatch.setenv("MAX_TOKENS", "k3Lm2No1")
    hide_environment()
    text = f"a9Bc8De7 f6Gh5Ij4 {tmp_path} k3Lm2No1"
    assert without_keys(text) == f"[key] [key] {tmp_path} k3Lm2No1"


def test_a_number_of_tokens_is_no_secret() -> None:
    assert is_sensitive("max_token", "800x")
    assert not is_sensitive("max_token", 800)
    assert not is_sensitive("prompt_tokens", "800")


@pytest.mark.parametrize("part", ["a", "key", "-", "://", "://:", "://a:", "eyJ-", "key\\", "key="])
def test_long_text_is_searched_once(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a square of the length in steps, this would take hours."""
    monkeypatch.setattr(safe_text, "_LONGEST", 10**9)
    assert without_secrets(part * 100_000).startswith(part[:3])


def test_what_is_searched_is_cut() -> None:
    assert len(without_secrets("word " * 10_000)) == 20_003
