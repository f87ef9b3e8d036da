"""Every evaluator by name: entries of a campaign file, and what is listed."""

import pytest
from pydantic import TypeAdapter, ValidationError

from recjury.errors import ConfigError
from recjury.judges import (
    EVALUATORS,
    Evaluator,
    EvaluatorContext,
    EvaluatorEntry,
    listed_evaluators,
    read_entry,
)
from recjury.judges.face.evaluator import FaceEvaluator
from recjury.records import Need
from tests.judges.cases import SPEC, a_log, gateway_of, planned

ENTRY: TypeAdapter[Evaluator] = TypeAdapter(EvaluatorEntry)
KINDS = EVALUATORS.built_in


def test_a_bare_name_is_a_kind_and_the_kind_is_the_name() -> None:
    for kind in ("outcome", "core", "face", "llm-direct", "llm-cot-icl"):
        entry = read_entry(kind)
        assert (entry.kind, entry.label, entry.judgings) == (kind, kind, 1)
    named = ENTRY.validate_python({"kind": "core", "name": "strict", "judgings": 3})
    assert (named.label, named.judgings) == ("strict", 3)


@pytest.mark.parametrize("entry", ["corr", {"kind": "corr"}])
def test_an_unknown_kind_gets_the_nearest_name(entry: object) -> None:
    with pytest.raises(ValueError, match="unknown evaluator 'corr'; did you mean 'core'"):
        read_entry(entry)


@pytest.mark.parametrize("name", ["a.b", "a@b", " ", "-a"])
def test_a_name_is_the_beginning_of_metric_ids(name: str) -> None:
    with pytest.raises(ValidationError, match="letters, digits, - and _"):
        ENTRY.validate_python({"kind": "core", "name": name})


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_and_classes_belong_together(kind: str) -> None:
    loaded = EVALUATORS.load(kind)
    assert loaded.model_fields["kind"].default == kind
    assert loaded.__doc__


def test_what_is_listed_has_metrics_with_unique_ids_and_scales() -> None:
    listed = {each.kind: each for each in listed_evaluators()}
    assert set(KINDS) <= listed.keys()
    for each in listed.values():
        ids = [metric.id for metric in each.metrics]
        assert len(set(ids)) == len(ids)
        assert each.summary
    assert listed["rubric"].metrics == listed["python"].metrics == ()
    assert {need for metric in listed["core"].metrics for need in metric.needs} == {
        Need.LIST,
        Need.TARGETS,
    }


@pytest.mark.parametrize("kind", ["face", "llm-direct", "llm-cot-icl"])
def test_who_needs_a_model_is_refused_without_one(kind: str) -> None:
    with pytest.raises(ConfigError, match=f"{kind} needs a model: add `model`"):
        read_entry(kind).prepared(EvaluatorContext())


def test_log_probabilities_of_an_embedding_model_are_refused() -> None:
    gateway, _ = gateway_of([], "main")
    embedding = {"main": SPEC.model_copy(update={"embedding": True})}
    face = FaceEvaluator(method="logprobs")
    assert all(Need.LOGPROBS in metric.needs for metric in face.metrics)
    with pytest.raises(ConfigError, match=r"face\.model: the model 'main' makes embeddings"):
        face.prepared(EvaluatorContext(None, gateway, embedding))


def test_particles_come_from_one_place() -> None:
    with pytest.raises(ValidationError, match="keep one"):
        FaceEvaluator(rules=True, particles="x.json")


def test_calls_of_face_are_by_particle_and_instruction() -> None:
    gateway, _ = gateway_of([], "main")
    around = EvaluatorContext(None, gateway, gateway.models)
    log = a_log("Ronin?", "Fargo?")
    one = FaceEvaluator.model_validate({"aspects": ["relevance"]})
    calls = planned(one.prepared(around), log)
    assert calls == {("main", "face/decompose"): 2, ("main", "face/score"): 2 * 4 * 4}
    singly = one.model_copy(update={"together": False, "rules": True})
    assert planned(singly.prepared(around), log) == {("main", "face/score"): 5 * 2 * 4 * 4}
