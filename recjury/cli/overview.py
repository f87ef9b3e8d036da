"""The order of `recjury --help`: what one begins with comes first."""

import typer
from typer.core import TyperGroup

SECTIONS = {
    "Start here": ("demo", "init", "run", "judge", "compare", "view", "replay"),
    "Results": ("summary", "report", "export", "explain"),
    "People": ("align", "annotate"),
    "Papers": ("analyse", "train"),
    "The rest": ("status", "list", "doctor", "store"),
}

_LONGEST = 200  # characters of a sentence: it is wrapped, and not cut


class Overview(TyperGroup):
    """Lists the commands by what they are for."""

    def format_commands(self, ctx: typer.Context, formatter: "typer.HelpFormatter") -> None:  # type: ignore[override,name-defined]
        """Write a section for each purpose; a command of no section is in the last one."""
        known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        placed = {name for names in SECTIONS.values() for name in names}
        for heading, names in SECTIONS.items():
            rest = [name for name in known if name not in placed] if heading == "The rest" else []
            rows = [
                (name, command.get_short_help_str(_LONGEST))
                for name in (*names, *rest)
                if (command := known.get(name)) is not None
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)
