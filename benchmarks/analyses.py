"""How often analyses flag a judge without a habit: `python -m benchmarks.analyses`.

500 seeds of 30 scenarios, two systems and two judges, whose scores have nothing to do with lengths,
places, turns and systems; for `judge.retest`, nothing to do with what is rated. Other analyses flag
nothing.
"""

from collections import Counter

from recjury.agreement import ANALYSES
from tests.agreement.honest import honest

SEEDS = 500
FLAGGING = ("length", "self_preference", "position", "turns", "retest")


def main() -> None:
    flagged: Counter[str] = Counter()
    for seed in range(SEEDS):
        judged, noise = honest(seed), honest(seed, spread=0)
        for name in FLAGGING:
            study = noise if name == "retest" else judged
            flagged[name] += bool(ANALYSES[f"judge.{name}"].run(study).data["flagged"])
    for name in FLAGGING:
        print(f"judge.{name}: {flagged[name] / SEEDS:.1%} of {SEEDS} seeds")


if __name__ == "__main__":
    main()
