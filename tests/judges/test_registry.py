"""Every evaluator by name: entries of a campaign file, and what is listed."""

import pytest
from pydantic import TypeAdapter, ValidationError

from recjury.errors import ConfigError
from recjury.judges import (
    BUILT_IN,
    EvaluatorConfig,
    EvaluatorContext,
    EvaluatorEntry,
    kinds,
    listed,
    read_entry,
)
from recjury.judges.face.config import FaceConfig
from recjury.records import Need
from tests.judges.cases import SPEC, gateway_of

ENTRY: TypeAdapter[EvaluatorConfig] = TypeAdapter(EvaluatorEntry)


def test_a_bare_name_is_a_kind_and_the_kind_is_the_name() -> None:
    for kind in ("outcome", "core", "face", "llm-direct", "llm-cot-icl"):
        entry = ENTRY.validate_python(read_entry(kind))
        assert (entry.kind, entry.label, entry.judgings) == (kind, kind, 1)
    named = ENTRY.validate_python(read_entry({"kind": "core", "name": "strict", "judgings": 3}))
    assert (named.label, named.judgings) == ("strict", 3)


@pytest.mark.parametrize("entry", ["corr", {"kind": "corr"}])
def test_an_unknown_kind_gets_the_nearest_name(entry: object) -> None:
    with pytest.raises(ValueError, match="unknown evaluator 'corr'; did you mean 'core'"):
        read_entry(entry)


@pytest.mark.parametrize("name", ["a.b", "a@b", " ", "-a"])
def test_a_name_is_the_beginning_of_metric_ids(name: str) -> None:
    with pytest.raises(ValidationError, match="letters, digits, - and _"):
        ENTRY.validate_python({"kind": "core", "name": name})


def test_kinds_and_configurations_belong_together() -> None:
    assert len(set(kinds())) == len(BUILT_IN)


def test_what_is_listed_has_metrics_with_unique_ids_and_scales() -> None:
    found = {each.kind: each for each in listed()}
    assert set(kinds()) <= found.keys()
    for each in found.values():
        ids = [metric.id for metric in each.metrics]
        assert len(set(ids)) == len(ids)
        assert each.summary
    assert found["rubric"].metrics == found["python"].metrics == ()
    assert {need for metric in found["core"].metrics for need in metric.needs} == {
        Need.LIST,
        Need.TARGETS,
    }


@pytest.mark.parametrize("kind", ["face", "llm-direct", "llm-cot-icl"])
def test_who_needs_a_model_is_refused_without_one(kind: str) -> None:
    entry = ENTRY.validate_python(read_entry(kind))
    with pytest.raises(ConfigError, match=f"{kind} needs a model: add `model`"):
        entry.build(EvaluatorContext())


def test_log_probabilities_of_an_embedding_model_are_refused() -> None:
    gateway, _ = gateway_of([], "main")
    embedding = {"main": SPEC.model_copy(update={"embedding": True})}
    config = FaceConfig(method="logprobs")
    assert all(Need.LOGPROBS in metric.needs for metric in config.metrics(True))
    with pytest.raises(ConfigError, match="face: the model 'main' makes embeddings"):
        config.build(EvaluatorContext(None, gateway, embedding))


def test_particles_come_from_one_place() -> None:
    with pytest.raises(ValidationError, match="keep one"):
        FaceConfig(rules=True, particles="x.json")


def test_calls_of_face_are_by_particle_and_instruction() -> None:
    one = FaceConfig.model_validate({"aspects": ["relevance"]})
    calls = {each.kind: each for each in one.expected(10, 50, models=True, attempts=3)}
    assert calls["face/decompose"].once == 50
    assert calls["face/score"].once == 50 * 4 * 4
    singly = one.model_copy(update={"together": False, "rules": True})
    (scored,) = singly.expected(10, 50, models=True, attempts=3)
    assert scored.once == 5 * calls["face/score"].once
