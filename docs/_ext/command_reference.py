"""The directive `commands`: every command of the command line, made from the code that runs it."""

import inspect
from collections.abc import Iterator
from typing import Any

import typer.main
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from recjury.cli.app import app as recjury


class Commands(SphinxDirective):
    """A section for each command: what it does, examples, arguments and options."""

    def run(self) -> list[nodes.Node]:
        """The sections, in the order of `recjury --help`."""
        root = typer.main.get_command(recjury)
        text = "\n".join(
            line for command in _leaves(root, "recjury") for line in _section(*command)
        )
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command that can be run, with the words that call it."""
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
        return
    for name, child in children.items():
        yield from _leaves(child, f"{path} {name}")


def _section(path: str, command: Any) -> Iterator[str]:
    """The Markdown of one command. `command` is of Typer's own class, which is not public."""
    context = command.context_class(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    yield from (f"## {path}", "", "```text", usage, "```", "")
    prose, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
    yield from (prose.strip(), "")
    if examples:
        yield from ("```sh", examples.strip(), "```", "")
    yield from ("| | |", "|---|---|")
    for parameter in command.params:
        written, meaning = parameter.get_help_record(context) or (parameter.name, "")
        yield f"| {_cell(written, code=True)} | {_cell(meaning)} |"
    yield ""


def _cell(text: str, *, code: bool = False) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return f"`{text}`" if code else text.replace("<", "&lt;").replace("*", "\\*")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
