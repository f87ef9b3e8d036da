"""Declared acts that differ from the words are said; evidence is said once."""

import pytest

from recjury.records import Evidence
from recjury.results import summarise
from recjury.results.caveats import about_campaign
from recjury.results.explanation import evidence_line
from recjury.results.summary import ActCounts
from recjury.store import Store
from tests.judges.cases import a_log
from tests.report.filling import CAMPAIGN, Played, fill


def test_acts_that_differ_from_the_words_are_a_caveat(store: Store) -> None:
    fill(store, [Played("a", "1")])
    summary = summarise(store, CAMPAIGN)
    assert summary.acts == (0, 0)  # no model declared any
    summary.acts = ActCounts(3, 4)
    heading = about_campaign(summary)[-1].heading
    assert heading.startswith("4 acts that the simulated user declared differ from its words")
    assert heading.endswith("3 could not be used")


@pytest.mark.parametrize(
    ("note", "line"),
    [
        ("garbled 'Tora'", "turn 1, garbled 'Tora'"),
        ("", "turn 1, garbled 'Tora'"),
        ("says it again", "turn 1, garbled 'Tora': says it again"),
    ],
)
def test_evidence_is_said_once(note: str, line: str) -> None:
    where = {"turn": 0, "span_start": 0, "span_end": 4}
    evidence = Evidence(factor="Naturalness", label="garbled", note=note, **where)
    assert evidence_line(evidence, a_log("Tora Tora")) == line
