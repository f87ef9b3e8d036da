"""What `counted` reaches beside people: `RECJURY_DATA=... python -m benchmarks.counted_people`.

CRSArena-Eval has been looked at many times: it is development data, and no claim about unseen
dialogues rests on it.
"""

import asyncio
import os
import tempfile
from pathlib import Path

from recjury.agreement import align, open_labels, read_scores
from recjury.campaign import Config, catalogues_of, judge, recorded
from recjury.cli.show import show
from recjury.store import Store

SETS = {"crsarena-eval": "crsarena-eval/crs_arena_eval.json", "ab-redial": "ab-redial"}


def main() -> None:
    data = Path(os.environ["RECJURY_DATA"])
    with tempfile.TemporaryDirectory() as folder:
        for form, path in SETS.items():
            labels = open_labels(f"{form}:{data / path}")
            recordings = [
                each.model_copy(
                    update={"catalogue": "opendialkg" if "kg" in each.corpus else "redial"}
                )
                for each in labels.recordings
                if not each.history
            ]
            config = Config.model_validate(
                {
                    "name": form,
                    "scenarios": [],
                    "systems": [],
                    "recordings": catalogues_of(recordings),
                    "evaluators": ["counted"],
                }
            )
            store = f"{folder}/{form}.db"
            with Store(store) as opened:
                asyncio.run(judge(config, recorded(recordings), opened))
            show(align(read_scores(store), labels, ["counted.overall=dialogue_overall"]))


if __name__ == "__main__":
    main()
