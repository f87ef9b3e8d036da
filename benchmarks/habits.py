"""What becomes of the habits of models and endpoints: `python -m benchmarks.habits [--json]`.

A small campaign (ChatCRS, a user that is a model, the twelve judges, the debate) is run against the
scripted server of `tests/habits`, with each habit alone and with all of them mixed, and held
against the same campaign with a server without habits.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.habits.campaign import (
    Ended,
    HabitCampaign,
    Trials,
    beginning,
    healthy_trials,
    wrong_scores,
)
from tests.habits.habit import HABITS, Expected, Group, Habit
from tests.habits.left_to_send import left_to_send
from tests.habits.meaning import meaning
from tests.habits.server import Alone, Mixed

SHARE = 0.25
SCENARIOS, SYSTEMS = 14, 2
LEAST_VERDICTS = 26
_TITLES: dict[Group, str] = {
    "reasoning": "Thoughts",
    "answers": "Answers of judges, debaters and the user's rating",
    "speech": "Turns of the user and of the system",
    "transport": "Transport",
    "errors": "Errors",
    "endpoints": "Endpoints",
}
OUTCOMES: dict[Expected, str] = {
    "read": "read",
    "unscored": "unscored",
    "failed": "one trial failed",
    "stopped": "not begun",
}
_CODES: dict[Expected, int] = {"read": 0, "unscored": 3, "failed": 3, "stopped": 2}


@dataclass
class Row:
    """What one habit alone came to, in a campaign of two trials."""

    habit: str
    group: Group
    about: str
    expected: Expected
    found: Expected
    reason: str
    spoiled: int
    exit_code: int
    verdicts: int
    wrong: list[str]

    @property
    def is_as_expected(self) -> bool:
        """Whether the habit did what it should, and no score is wrong."""
        return self.found == self.expected and not self.wrong


@dataclass
class MixedRun:
    """What a mixed run came to, the one after it without habits, and a third one."""

    seed: int
    trials: int
    verdicts: int
    spoiled: int
    habits: int
    unexplained: list[str]
    wrong: list[str]
    exit_code: int
    seconds: float
    asked: int
    missing: dict[str, str]
    again: dict[str, int] = field(default_factory=dict)
    again_at_most: dict[str, int] = field(default_factory=dict)
    again_verdicts: int = 0
    again_exit_code: int = -1
    third: int = -1

    @property
    def checks(self) -> dict[str, bool]:
        """What must be so."""
        return {
            f"at least {LEAST_VERDICTS} of 28 verdicts": (
                self.verdicts * 28 >= LEAST_VERDICTS * self.trials
            ),
            "no wrong score": not self.wrong,
            "every missing verdict is explained": not self.unexplained,
            "run again finishes all": self.again_verdicts == self.trials,
            "run again sends only what was missing": all(
                count <= self.again_at_most.get(kind, 0) for kind, count in self.again.items()
            ),
            "a third run sends nothing": self.third == 0,
            "the exit code is 3 where something is missing": (
                not self.missing or self.exit_code == 3
            ),
        }


def alone(habits: Iterable[Habit], say: Callable[[str], object]) -> list[Row]:
    """Each habit in a campaign of its own, whose first trial it spoils, or all of an endpoint."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain: dict[str, object] = {"scenarios": 2}
        wide: dict[str, object] = {**plain, "samples": 2, "json_mode": "schema"}
        healthy = {False: healthy_trials(folder / "plain", **plain)}
        healthy[True] = healthy_trials(folder / "wide", **wide)
        for number, habit in enumerate(habits):
            with HabitCampaign(
                folder / str(number), **(wide if habit.lasting else plain)
            ) as campaign:
                script = Alone(habit, beginning(healthy[False]))
                ended = campaign.run(script)
                found = campaign.trials
            row = _row(habit, script.spoiled, ended, found, healthy[habit.lasting])
            mark = "" if row.is_as_expected else " " + " ".join(("NOT AS EXPECTED", *row.wrong))
            say(f"{habit.name}: {row.found} {row.reason}{mark}")
            rows.append(row)
    return rows


def _row(habit: Habit, spoiled: int, ended: Ended, found: Trials, healthy: Trials) -> Row:
    first = next(iter(found.values()), None)
    outcome: Expected
    if first is None:
        outcome, reason = "stopped", _last_line(ended.err)
    elif not all(trial.has_verdict for trial in list(found.values())[1:]):
        outcome, reason = "stopped", "the other trial has no verdict"
    elif first.failure:
        outcome, reason = "failed", first.failure
    elif first.unscored:
        outcome, reason = "unscored", next(iter(first.unscored.values()))
    else:
        outcome, reason = "read", ""
    return Row(
        habit.name,
        habit.group,
        habit.about,
        habit.expected,
        outcome,
        reason,
        spoiled,
        ended.code,
        sum(trial.has_verdict for trial in found.values()),
        wrong_scores(found, healthy),
    )


def _last_line(printed: str) -> str:
    return next((line for line in reversed(printed.splitlines()) if line.strip()), "")


def mixed(seed: int, scenarios: int = SCENARIOS) -> MixedRun:
    """A quarter of all replies has a habit; then the server has none; then the same again."""
    settings: dict[str, object] = {"scenarios": scenarios, "systems": SYSTEMS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        healthy = healthy_trials(folder / "healthy", **settings)
        with HabitCampaign(folder / "mixed", **settings) as campaign:
            script = Mixed(SHARE, seed)
            ended = campaign.run(script)
            first, asked = campaign.trials, len(campaign.asked)
            result = MixedRun(
                seed,
                len(first),
                sum(trial.has_verdict for trial in first.values()),
                script.spoiled.total(),
                len(script.spoiled),
                _unexplained(first, ended.out + ended.err),
                wrong_scores(first, healthy),
                ended.code,
                round(ended.seconds, 1),
                asked,
                {
                    name: trial.failure or "; ".join(trial.unscored.values())
                    for name, trial in first.items()
                    if not trial.has_verdict
                },
            )
            again = campaign.run()
            second, sent = campaign.trials, campaign.asked[asked:]
            result.wrong += wrong_scores(second, healthy)
            result.again = dict(Counter(meaning(body).kind for body in sent))
            result.again_at_most = left_to_send(first, healthy)
            result.again_verdicts = sum(trial.has_verdict for trial in second.values())
            result.again_exit_code = again.code
            campaign.run()
            result.third = len(campaign.asked) - asked - len(sent)
            return result


def _unexplained(found: Trials, printed: str) -> list[str]:
    """The trials without a verdict whose reason is not in what was printed."""
    shown = " ".join(printed.split())
    missing = {n: t.failure or t.verdict_reason for n, t in found.items() if not t.has_verdict}
    return [
        name
        for name, reason in missing.items()
        if not reason or " ".join(reason.rpartition(": ")[2].split())[:40] not in shown
    ]


def page(rows: list[Row], runs: list[MixedRun]) -> str:
    """The page of the documentation, in Markdown."""
    parts = [_INTRODUCTION.format(date=f"{datetime.now(UTC):%Y-%m-%d}", habits=len(rows))]
    parts.append(_mixed_table(runs))
    for group, title in _TITLES.items():
        lines = [f"## {title}", "", "| habit | what comes | read as |", "|---|---|---|"]
        for row in rows:
            if row.group == group:
                reason = f": {_short(row.reason)}" if row.reason else ""
                lines.append(f"| {row.habit} | {row.about} | {OUTCOMES[row.found]}{reason} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = """# Habits of models and endpoints

Models think aloud, forget a bracket, quote the text they judge, or stop in the middle; endpoints
limit, refuse, and break. This page shows what becomes of each such habit. A scripted server
(`tests/habits`) knows what every reply means; each of {habits} habits spoils its form, or what
carries it. Scores are compared with those of a server without habits.

The tables are printed by `python -m benchmarks.habits --page` (measured on {date}).

Alone, a habit spoils every reply that it applies to in one of two trials, also when it is asked for
again. Habits of an endpoint apply to both trials. What no reply survives (a broken connection, for
example) applies to the first answer to each request. In the tables, "read" means that all scores of
the trial are as without the habit, after asking again where that was needed. The other trial always
has its verdict, unless the campaign cannot begin.

In a mixed run, a quarter of all replies has a habit drawn by chance, those of endpoints
excepted. Then the same campaign is run again, and the server has no habits."""


def _mixed_table(runs: list[MixedRun]) -> str:
    lines = [
        "| seed | replies with a habit | verdicts | wrong scores | not explained | "
        "run again: requests | run again: verdicts | third run: requests |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        sent = sum(run.again.values())
        lines.append(
            f"| {run.seed} | {run.spoiled} of {run.asked}, {run.habits} habits "
            f"| {run.verdicts} of {run.trials} | {len(run.wrong)} | {len(run.unexplained)} "
            f"| {sent} of at most {sum(run.again_at_most.values())} "
            f"| {run.again_verdicts} of {run.trials} | {run.third} |"
        )
    return "## Mixed\n\n" + "\n".join(lines)


def _short(reason: str) -> str:
    """A reason as a table cell, without addresses."""
    plain = re.sub(r"http://[0-9.:]+/v1", "(address)", reason).replace("|", "\\|")
    plain = plain.replace("<", "&lt;").replace("*", "\\*")
    return plain if len(plain) <= 130 else plain[:127] + "..."


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.habits", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--page", action="store_true", help="the page of the documentation")
    parser.add_argument("--only", nargs="*", metavar="HABIT", help="these habits, and no mixed run")
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3], help="of mixed runs")
    options = parser.parse_args()
    chosen = [HABITS[name] for name in options.only] if options.only else HABITS.values()
    rows = alone(chosen, lambda line: print(line, file=sys.stderr, flush=True))
    runs = [] if options.only else [mixed(seed) for seed in options.seeds]
    checks = {
        "each habit alone is as expected": all(row.is_as_expected for row in rows),
        "none ends a campaign that can go on": all(
            row.found != "stopped" for row in rows if row.expected != "stopped"
        ),
        "none becomes a wrong score": not any(row.wrong for row in rows),
        "exit codes are 0, 3 or 2": all(row.exit_code == _CODES[row.found] for row in rows),
        **{f"seed {run.seed}: {name}": ok for run in runs for name, ok in run.checks.items()},
    }
    if options.json:
        print(json.dumps({"checks": checks, "alone": list(map(asdict, rows)),
                          "mixed": list(map(asdict, runs))}))  # fmt: skip
    elif options.page:
        print(page(rows, runs), end="")
    else:
        for row in rows:
            print(f"{row.group:10}{row.habit:50}{OUTCOMES[row.found]:18}{row.reason[:100]}")
        print(_mixed_table(runs))
    for name, is_so in checks.items():
        print(f"{'yes' if is_so else 'NO ':4}{name}", file=sys.stderr)
    raise SystemExit(0 if all(checks.values()) else 1)


if __name__ == "__main__":
    _main()
