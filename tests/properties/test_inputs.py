"""Files that users write: each is read, or refused in one line."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from recjury.campaign.config_file import read_config
from recjury.corpora.log_readers import json_logs, message_logs
from recjury.errors import UserError
from recjury.safe_text import printable, without_secrets
from recjury.yaml_files import read_yaml
from tests.properties.searching import for_a_while
from tests.properties.strategies import packed_texts, texts

_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
_turn = st.fixed_dictionaries(
    {"speaker": st.sampled_from(["user", "system"]), "text": texts},
    optional={"items": st.lists(texts, max_size=3), "acts": _values, "x": _values},
)
_message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool"]), "content": _values}
)
_log = st.fixed_dictionaries(
    {},
    optional={
        "system": st.one_of(texts, _values),
        "turns": st.one_of(st.lists(_turn, max_size=4), _values),
        "messages": st.one_of(st.lists(_message, max_size=4), _values),
        "targets": st.one_of(st.lists(texts, max_size=2), _values),
        "id": st.one_of(texts, _values),
    },
)
_campaigns = st.fixed_dictionaries(
    {},
    optional={
        name: st.one_of(_values, st.just(usual))
        for name, usual in {
            "corpus": "sample",
            "systems": [{"kind": "popular"}],
            "evaluators": [{"kind": "core"}],
            "user": {"kind": "rule"},
            "model": {"base_url": "http://127.0.0.1:9", "name": "m"},
            "repeats": 2,
            "limit": 5,
            "seed": 1,
        }.items()
    },
)
_lines = st.one_of(_log.map(json.dumps), packed_texts, _values.map(json.dumps))


def _refusal(text: str, *readers: Callable[[Path], object]) -> list[str]:
    """What the readers say of a file with that text, each that refuses it."""
    said = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "given"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        for read in readers:
            try:
                read(path)
            except UserError as error:
                said.append(str(error))
    return said


@for_a_while
@given(st.lists(_lines, max_size=3))
def test_a_file_of_logs_is_read_or_refused_in_one_line(lines: list[str]) -> None:
    for said in _refusal(
        "\n".join(lines),
        lambda path: list(json_logs(path, None, None)),
        lambda path: list(message_logs(path, None, None)),
    ):
        assert len(said.splitlines()) == 1


@for_a_while
@given(st.one_of(packed_texts, _values.map(json.dumps)))
@example("a: &a [*a]")
def test_yaml_is_read_or_refused_in_one_line(text: str) -> None:
    assert all(len(said.splitlines()) == 1 for said in _refusal(text, read_yaml))


@for_a_while
@given(_campaigns)
@example({"systems": [{"kind": "popular"}], "corpus": "sample", "evaluators": [[]]})
def test_a_campaign_file_is_read_or_refused(campaign: dict[str, Any]) -> None:
    for said in _refusal(json.dumps(campaign), read_config):
        assert said.strip()


@for_a_while
@given(texts)
def test_what_is_shown_controls_no_terminal(text: str) -> None:
    assert all(sign in "\t\n" or sign >= " " for sign in printable(text))
    assert all(sign in "\t\n" or sign >= " " for sign in printable(without_secrets(text)))
