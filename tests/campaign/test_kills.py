"""A run that is killed three times ends as one that was not."""

from benchmarks.kills import compare


def test_kills_change_nothing() -> None:
    found = compare(3)
    assert found.differing == []
    assert found.calls > 100
    open_at_once = 2 * 16
    assert found.sent_twice <= sum(found.kills.values()) * open_at_once
