"""No secret is left in text that is shown, and long text takes no longer than its length says."""

import pytest

from recjury import safe_text
from recjury.safe_text import hide_secret, is_sensitive, without_secrets


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
