"""The analyses by name: what each shows, and what it needs besides a campaign."""

from collections.abc import Mapping

from recjury.agreement import core_questions as core
from recjury.agreement import judge_questions as judge
from recjury.agreement.face_parts import explained
from recjury.agreement.study import Analysis

_LABELS, _JUDGES = "people's labels", "two judges"

ANALYSES: Mapping[str, Analysis] = {
    "core.rq1": Analysis(core.coupling, "how far factors go together", "core or counted"),
    "core.rq2": Analysis(core.factors_and_people, "judges and people by factor", _LABELS),
    "core.rq3": Analysis(core.verdicts_and_people, "overall scores and people", _LABELS),
    "core.rq4": Analysis(core.systems_by_judge, "factors and roles by system", "core or counted"),
    "debate.value": Analysis(core.value_of_debate, "what a debate changes", "a debate"),
    "face.explain": Analysis(explained, "what pulls FACE's scores up and down", "face"),
    "judge.length": Analysis(judge.length, "whether long replies score higher", "ten scenarios"),
    "judge.self_preference": Analysis(judge.self_preference, "own systems preferred", _JUDGES),
    "judge.position": Analysis(judge.position, "the first reply preferred", "paireval, twice"),
    "judge.turns": Analysis(judge.over_turns, "scores over the turns", "ratings of turns"),
    "judge.samples": Analysis(judge.samples, "scenarios that intervals need", "ten scenarios"),
    "judge.retest": Analysis(judge.retest, "whether scores come out again", "judgings: 2"),
    "offline.table": Analysis(judge.offline_table, "recall, nDCG, MRR by system", "offline"),
}
"""All but `judge.position` and `judge.retest` cost no call that the campaign has not made."""
