"""The list of commands in `recjury --help`: in groups, with whole sentences."""

from collections import defaultdict
from typing import Any

from typer.core import TyperCommand, TyperGroup


class GroupedCommands(TyperGroup):
    """Commands in the order and under the headings in which they were registered."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in order."""
        del ctx
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command; of environment variables its help names only those with a short name."""
        command = super().get_command(ctx, cmd_name)
        for each in (command, *getattr(command, "commands", {}).values()):
            for option in getattr(each, "params", ()):
                option.show_envvar = bool(getattr(option, "envvar", None))
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each heading; each command has the first sentence of its help."""
        groups: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for name in self.list_commands(ctx):
            command = self.commands[name]
            heading = command.rich_help_panel if isinstance(command, TyperCommand) else None
            panel = heading or getattr(command, "rich_help_panel", None) or "Commands"
            first = (command.help or "").strip().partition("\n")[0]
            groups[str(panel)].append((name, first))
        for panel, rows in groups.items():
            with formatter.section(panel):
                formatter.write_dl(rows)
