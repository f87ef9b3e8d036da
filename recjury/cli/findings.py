"""Tables and files that an analysis found: printed in a format, or written."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from recjury.cli import output
from recjury.errors import ConfigError
from recjury.safe_text import without_keys
from recjury.tables import Findings, Table, TableFormat, formatted, picture
from recjury.tables.pictures import PICTURES, check_ending

if TYPE_CHECKING:
    from recjury.records import JSON

_ENDINGS = {
    TableFormat.TEXT: "txt",
    TableFormat.JSON: "json",
    TableFormat.CSV: "csv",
    TableFormat.MARKDOWN: "md",
    TableFormat.LATEX: "tex",
    TableFormat.HTML: "html",
}


def show_findings(findings: Findings, form: TableFormat) -> None:
    """Print tables on standard output; notes go to standard error, or into the JSON object."""
    if form is TableFormat.JSON:
        output.emit_json(findings.as_json())
        return
    show_tables(findings.tables, form)
    for note in findings.notes:
        output.say(note)


def show_tables(tables: Iterable[Table], form: TableFormat) -> None:
    """Print tables on standard output, and their notes on standard error."""
    if form is TableFormat.JSON:
        output.emit_json({table.name: table.as_json() for table in tables})
        return
    several = [table for table in tables if not table.detail]
    for table in several:
        if form is TableFormat.TEXT:
            title = table.title or (table.name if len(several) > 1 else None)
            lines = list(table.lines)
            output.show_table(table.headings, lines, title=title, align=table.alignments)
        else:
            output.print_text(formatted(table, form) + ("\n" if len(several) > 1 else ""))
        for note in dict.fromkeys(table.notes):
            output.say(note)


def check_out(out: Path | None) -> None:
    """Raise a UserError if nothing can be written to `out`; nothing is created."""
    from recjury.corpora.writing import check_writable

    if out is not None:
        if out.suffix in PICTURES:
            check_ending(out.suffix)
        check_writable(out if out.suffix else out / "findings.json")


def write_findings(findings: Findings, out: Path, form: TableFormat) -> None:
    """Write everything into the folder `out`; if `out` has an ending, the one file that has it.

    Raises ConfigError if there is no such file, or several, and DataError if it cannot be written.
    """
    from recjury.corpora.writing import write_file

    if not out.suffix:
        figures = {f"{name}.svg": picture(each) for name, each in findings.figures.items()}
        contents = {**_table_files(findings, form), **figures, **findings.files}
        for name, content in contents.items():
            write_file(out / name, [content])
        output.say(f"{out}: {', '.join(contents)}")
        return
    made = {name: own for name, own in findings.files.items() if name.endswith(out.suffix)}
    if out.suffix in PICTURES:
        made |= {name: picture(each, out.suffix) for name, each in findings.figures.items()}
    fitting = made or _tables_of_ending(findings, out.suffix.removeprefix("."))
    if len(fitting) != 1:
        names = ", ".join(fitting) or "none"
        raise ConfigError(f"--out {out}: {names} of the files has this ending: name a folder")
    write_file(out, list(fitting.values()))
    output.say(f"written: {out}")


def _tables_of_ending(findings: Findings, ending: str) -> Mapping[str, bytes]:
    form = next((each for each, own in _ENDINGS.items() if own == ending), None)
    return {} if form is None else _table_files(findings, form)


def _table_files(findings: Findings, form: TableFormat) -> dict[str, bytes]:
    """Each table in that format, as CSV in place of text; JSON has all of them."""
    import orjson

    if form is TableFormat.JSON:
        shown: JSON = findings.as_json()
        text = orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()
        return {"findings.json": without_keys(text).encode()}
    written = TableFormat.CSV if form is TableFormat.TEXT else form
    return {
        f"{table.name}.{_ENDINGS[written]}": formatted(table, written).encode()
        for table in findings.tables
    }
