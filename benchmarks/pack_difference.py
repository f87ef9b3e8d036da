"""What differs between the prompts of `core` and `core-paper`: python -m benchmarks.pack_difference

A row for each factor and role: what its prompts show besides the conversation, and how many of the
guideline's sentences one of the packs has alone (a role: of its description and concerns).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recjury.debate import DebatePrompts
from recjury.judges import Rubric
from recjury.judges.guideline import JudgePrompts
from recjury.prompts import Pack, load_pack
from recjury.records import Factor, Role

PACKS = ("core", "core-paper")
_HEADINGS = (
    "factor or role",
    *(f"`{name}` shows" for name in PACKS),
    "only `core`",
    "only `core-paper`",
)


def rows() -> Iterator[tuple[str, ...]]:
    """The rows of the table."""
    judges = [load_pack(f"{name}-judges") for name in PACKS]
    debates = [load_pack(f"{name}-debate") for name in PACKS]
    for factor in Factor:
        guides = [Rubric(JudgePrompts(pack)).guides[factor] for pack in judges]
        texts = [(g.definition, *g.anchors.values(), *g.steps) for g in guides]
        yield _row(
            factor, [_shown(p, g.inputs) for p, g in zip(judges, guides, strict=True)], texts
        )
    for role in Role:
        roles = [DebatePrompts(pack).guides[role] for pack in debates]
        texts = [(r.who, *r.concerns.values(), *r.expertise) for r in roles]
        yield _row(role, [_shown(p, r.sees) for p, r in zip(debates, roles, strict=True)], texts)


def _row(name: str, shown: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    ours, theirs = ({*own} for own in texts)
    return (name, *shown, _alone(ours, theirs), _alone(theirs, ours))


def _alone(own: set[str], other: set[str]) -> str:
    only = len(own - other)
    return f"{only} of {len(own)}" if only else ""


def _shown(pack: Pack, inputs: Sequence[str]) -> str:
    manifest: Mapping[str, Any] = pack.manifest
    seen = {*inputs} | ({"list"} if pack.lists == "all" else set())
    facts = " with facts" if manifest.get("annotated") else ""
    parts = (f"list{facts}" if "list" in seen else "", "target" if "target" in seen else "")
    return ", ".join(filter(None, parts))


def table() -> str:
    """The table in Markdown."""
    lines = (_HEADINGS, ("---",) * len(_HEADINGS), *rows())
    return "\n".join(
        "| " + "".join(f"{cell} | " if cell else "| " for cell in line).rstrip() for line in lines
    )


if __name__ == "__main__":
    print(table())
