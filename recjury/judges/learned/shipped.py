"""The judges in the package.

That of satisfaction learned from AB-ReDial (MIT), that of replies from ReDial (CC BY 4.0, Li et al.
2018), MultiWOZ (Apache-2.0, Budzianowski et al. 2018), and recjury's samples and systems.
"""

from pathlib import Path

FOLDER = Path(__file__).parent / "weights"


def judge_folder(kind: str, named: Path | None) -> Path:
    """The named folder; else that of the shipped judge of this kind."""
    return FOLDER / kind if named is None else named
