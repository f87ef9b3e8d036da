"""The judges in the package: trained on AB-ReDial and iEvaLM's dialogues, whose terms are MIT."""

from pathlib import Path

FOLDER = Path(__file__).parent / "weights"


def judge_folder(kind: str, named: Path | None) -> Path:
    """The named folder; else that of the shipped judge of this kind."""
    return FOLDER / kind if named is None else named
