"""Worse versions of the replies of recorded conversations, as an analysis."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import orjson
from pydantic import Field

from recjury.agreement.replies.manipulations import Attack, Manipulator, SourceDialogue
from recjury.corpora import read_recordings
from recjury.corpora.dialogues import RobustnessPair
from recjury.errors import ConfigError, DataError
from recjury.plugins import Names
from recjury.tables import Analysis, AnalysisInput, Cell, Column, Findings, Input, table_of

FILE = "robustness-pairs.jsonl"


class WorseTexts(Analysis):
    """Worse versions of recorded replies, to see whether a scorer or a judge notices.

    Ten kinds, after Khalid and Lee (2022): dullness, pronoun, repetition, entailment,
    contradiction, speaker, entrainment, named_entities, bad_paraphrase, vocabulary_diversity.
    """

    source: ClassVar[str] = "Khalid and Lee (2022)"
    takes: ClassVar[tuple[Input, ...]] = (Input.DATA,)

    files: tuple[Path, ...] = Field(min_length=1, description="recorded conversations")
    kinds: Names = Field((), description="only these kinds of changes")
    limit: int | None = Field(None, ge=1, description="only the first conversations of each file")
    seed: int = Field(0, ge=0, description="of all random draws")

    async def run(self, given: AnalysisInput) -> Findings:
        """How many pairs there are of each kind, and the file with them."""
        kinds = self._attacks()
        recordings = read_recordings(self.files, data=given.data, limit=self.limit)
        dialogues = [
            SourceDialogue(
                f"{place}:{each.log.scenario.record}",
                (*each.log.scenario.history, *each.log.interaction),
            )
            for place, each in enumerate(recordings)
        ]
        if not dialogues:
            raise DataError("holds no conversation", path=self.files[0])
        pairs = tuple(Manipulator(dialogues, seed=self.seed).pairs(kinds))
        counts = Counter(pair.attack for pair in pairs)
        rows: list[dict[str, Cell]] = [{"kind": str(kind), "pairs": counts[kind]} for kind in kinds]
        return Findings(
            tables=(table_of("pairs", (Column("kind"), Column("pairs")), rows),),
            files={FILE: pair_lines(pairs)},
        )

    def _attacks(self) -> tuple[Attack, ...]:
        for name in self.kinds:
            if name not in set(Attack):
                raise ConfigError(f"unknown kind {name!r}: expected one of {', '.join(Attack)}")
        return tuple(dict.fromkeys(map(Attack, self.kinds))) or tuple(Attack)


def pair_lines(pairs: Iterable[RobustnessPair]) -> bytes:
    """The file of the pairs."""
    return b"".join(orjson.dumps(_row(pair)) + b"\n" for pair in pairs)


def _row(pair: RobustnessPair) -> dict[str, object]:
    """A line in the form that `read_robustness_pairs` reads."""
    row: dict[str, object] = {
        "id": pair.id,
        "attack": pair.attack,
        "history": [turn.text for turn in pair.history],
        "original": pair.original,
        "perturbed": pair.worse,
    }
    if pair.worse_history != pair.history:
        row["perturbed_history"] = [turn.text for turn in pair.worse_history]
    return row
