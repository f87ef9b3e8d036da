"""An evaluator of one's own: how much the system says, and how often it asks.

A campaign file names it, where Python finds the module:

    evaluators: [outcome, {kind: python, path: "own_evaluator:Talk", name: talk}]
"""

from recjury.records import ConversationLog, Level, Metric, Rating, Speaker


class Talk:
    """Counts words of each system turn, and the share of turns that end on a question."""

    metrics = (
        Metric(id="words", title="Words", group="Talk", level=Level.TURN, digits=1),
        Metric(id="questions", title="Questions", group="Talk", high=1),
    )

    def rate(self, log: ConversationLog) -> list[Rating]:
        """A rating for each turn, and one for the dialogue."""
        own = {"evaluator": "talk", "low": 0}
        turns = [(n, t) for n, t in enumerate(log.interaction) if t.speaker is Speaker.SYSTEM]
        ratings = [
            Rating(factor="words", score=len(turn.text.split()), turn=number,
                   level=Level.TURN, high=None, **own)
            for number, turn in turns
        ]  # fmt: skip
        asked = sum(turn.text.rstrip().endswith("?") for _, turn in turns)
        share = asked / len(turns) if turns else 0
        return [*ratings, Rating(factor="questions", score=share, high=1, **own)]
