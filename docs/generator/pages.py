"""All pages that are written from the code."""

from collections.abc import Iterable
from pathlib import Path

import recjury
from docs.generator import commands, keys, metrics, names, store
from docs.generator.writing import meanings_of_nothing

_FOLDER = Path(__file__).parents[1] / "reference"


def pages() -> dict[str, str]:
    """The pages by name. Raises LookupError if a key has no meaning, or a meaning no key."""
    first, more = commands.commands()
    written = {
        "campaign.md": _page("Keys of a campaign file", keys.campaign()),
        "systems.md": _page("Keys of systems and users", keys.systems_and_users()),
        "evaluators.md": _page("Keys of evaluators", keys.evaluators()),
        "commands.md": _page("Commands", first),
        "more-commands.md": _page("More commands", more),
        "metrics.md": _page("Metrics", metrics.metrics()),
        "python.md": _page("Python", names.of_recjury()),
        "own-parts.md": _page("Python for parts of your own", names.of_own_parts()),
        "store.md": _page("Tables of the store", store.store()),
    }
    if unused := meanings_of_nothing():
        raise LookupError(f"meanings.yaml has meanings of nothing: {unused}")
    return written


HELP = Path(recjury.__file__).parent / "cli" / "help.json"
"""Where the help of commands stands, which is shown without an import of their modules."""


def write() -> None:
    """Write all pages to docs/reference, and the help of commands."""
    HELP.write_text(commands.helps(), "utf-8")
    for name, text in pages().items():
        (_FOLDER / name).write_text(text, "utf-8")


def _page(title: str, parts: Iterable[str]) -> str:
    return "\n\n".join((f"# {title}", *parts)) + "\n"
