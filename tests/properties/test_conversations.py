"""Conversations: every judge without a model rates each, or says why it cannot."""

import asyncio

from hypothesis import given

from recjury.debate import RatedLog, RuleDebaters, overall, run_debate
from recjury.language import read, read_reply
from recjury.prompts import fence, fence_line, turns_block
from recjury.records import ConversationLog, Speaker, Status, Turn
from tests.judges.measured.logs import BLIND, CATALOGUE, PANEL
from tests.properties.searching import for_a_while
from tests.properties.strategies import conversations, packed_texts, texts


@for_a_while
@given(conversations())
def test_a_rating_is_on_its_scale_or_has_a_reason(log: ConversationLog) -> None:
    for panel in (PANEL, BLIND):
        for rating in panel.measure(log):
            if rating.status is Status.SCORED:
                assert rating.score is not None
                assert rating.low <= rating.score <= (rating.high or 0)
                assert rating.rationale
            else:
                assert rating.score is None
                assert rating.reason


@for_a_while
@given(conversations())
def test_a_verdict_lies_between_the_roles_or_is_missing(log: ConversationLog) -> None:
    judged = asyncio.run(PANEL.rate(log))
    rated = RatedLog(log, judged.ratings, judged.evidence)
    debate = asyncio.run(run_debate(rated, RuleDebaters(), max_rounds=4))
    first = debate.transcript.of_round(1)
    scores = [each.score for each in first if each.score is not None]
    score = overall(debate).score
    assert score is None or min(scores) - 1 <= score <= max(scores) + 1


@for_a_while
@given(conversations())
def test_a_conversation_survives_being_stored(log: ConversationLog) -> None:
    assert ConversationLog.model_validate_json(log.model_dump_json()) == log


@for_a_while
@given(texts, texts)
def test_every_text_is_read(said: str, before: str) -> None:
    turns = (Turn(speaker=Speaker.SYSTEM, text=before),)
    reading = read(Turn(speaker=Speaker.USER, text=said), turns, CATALOGUE)
    assert all(0 <= chance <= 1 for chance in reading.acts.values())
    assert read_reply(said, turns).broken in (True, False, None)


@for_a_while
@given(packed_texts)
def test_a_fence_cannot_be_left(said: str) -> None:
    assert not set("<>") & set(fence(said))
    assert len(fence_line(said).splitlines()) <= 1
    block = turns_block("conversation", (Turn(speaker=Speaker.SYSTEM, text=said),))
    assert block.count("</conversation>") == 1
    assert block.endswith("</conversation>")
