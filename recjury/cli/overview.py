"""The commands by what they are for; what one begins with comes first.

A command's module is imported when it is called. No help imports one: that of a command stands in
help.json, which is written from the code with the reference.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from recjury.cli.parameters import expanded

SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Start here": {
        "demo": ("demo", "Systems over the sample, without a model: rules speak and judge."),
        "init": ("init", "Write a campaign file that runs as it is, with all settings."),
        "run": ("running", "Play and rate what is left of a campaign."),
        "judge": ("judging", "Rate recorded conversations; without a model, by counting."),
        "compare": ("results", "Who is ahead on what, and is it decided?"),
        "view": ("pages", "Look at campaigns, conversations and debates in a browser."),
        "replay": ("replaying", "Show a conversation and its debate; without an id, list all."),
    },
    "Results": {
        "summary": ("results", "The answer of a campaign again, and what is not to be trusted."),
        "report": ("pages", "Write a campaign's pages to one file, or to a folder."),
        "export": ("results", "Write ratings, turns, statements and calls as tables."),
        "explain": ("results", "How a score came about: reason, evidence, prompt and reply."),
    },
    "People": {
        "align": ("analysing", "How far scores agree with people, over all and within systems."),
        "annotate": ("annotating", "Let people rate conversations."),
    },
    "Papers": {
        "analyse": ("analysing", "Questions of the papers, and their tables, asked of a campaign."),
        "train": ("training", "Train a neural system on a corpus, or a judge on people's labels."),
    },
    "The rest": {
        "status": ("results", "What is done, failed or left, what it cost, and the last runs."),
        "list": ("listing", "What there is: systems, users, evaluators, ..., and settings."),
        "doctor": ("doctor", "Look for problems: what is installed, and all that a file names."),
        "store": ("stores", "Check stores, and merge them."),
    },
}
"""Each command's module and what it is for, by section and name."""


class LateCommand(TyperCommand):
    """A command whose module is imported when it is called."""

    def __init__(self, name: str, module: str, purpose: str):
        super().__init__(name, help=purpose)
        self._module = module

    @cached_property
    def command(self) -> Any:
        """The command itself, which its module has by its name, or is a group there."""
        module = import_module(f"recjury.cli.{self._module}")
        found = getattr(module, f"{self.name}_", None) or getattr(module, str(self.name))
        if isinstance(found, typer.Typer):
            return typer.main.get_group(found)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(self.name)(expanded(found))
        return typer.main.get_command(alone)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """The context of the command itself, which is then called. For help, typer.Exit."""
        *words, last = args or [""]
        if last in ("-h", "--help") and (text := _help(str(self.name), *words)):
            typer.echo(text)
            raise typer.Exit
        return self.command.make_context(info_name, args, parent, **extra)


def _help(*words: str) -> str:
    """The help of a command as it stands in help.json; empty if it has none."""
    texts = json.loads(Path(__file__).with_name("help.json").read_text("utf-8"))
    return str(texts.get(" ".join(words), ""))


class Overview(TyperGroup):
    """All commands, listed by what they are for."""

    def __init__(self, **attributes: Any):
        super().__init__(**attributes)
        for own in SECTIONS.values():
            for name, about in own.items():
                self.add_command(LateCommand(name, *about))

    def format_commands(self, ctx: typer.Context, formatter: "typer.HelpFormatter") -> None:  # type: ignore[override,name-defined]  # noqa: ARG002
        """Write a section for each purpose."""
        for heading, own in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, purpose) for name, (_, purpose) in own.items()])
