"""Own labels: `recjury align --labels own_labels:thumbs:votes.txt` reads them.

votes.txt has a line for each conversation: its id, its system, and + or -.
"""

from pathlib import Path

from recjury.agreement import LabelSet
from recjury.records import ScoreTarget


def thumbs(path: Path) -> LabelSet:
    """One label of each conversation: 1 for a thumb up, 0 for one down."""
    votes = [line.split() for line in path.read_text("utf-8").splitlines()]
    labels = {ScoreTarget(name): float(vote == "+") for name, _, vote in votes}
    systems = {name: system for name, system, _ in votes}
    one = dict.fromkeys(systems, "all")
    clusters = {name: name for name in systems}
    return LabelSet("thumbs", {"liked": labels}, one, systems, clusters, {}, {})
