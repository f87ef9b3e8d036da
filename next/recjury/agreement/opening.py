"""Labels by form and path, or made by a function of one's own."""

from pathlib import Path

from recjury import plugins
from recjury.agreement.forms import FORMS, from_csv
from recjury.agreement.labels import COLUMNS, Labels
from recjury.errors import UserError
from recjury.files import nearest


def open_labels(wanted: str) -> Labels:
    """The labels that `FORM:PATH` names; `module:function` of one's own returns Labels.

    `csv:PATH?score=rating&conversation=id` names the columns of a file. Raises UserError if there
    is no such form or file, or if there is no label in it.
    """
    form, _, rest = wanted.partition(":")
    path, _, columns = (rest, "", "") if Path(rest).exists() else rest.partition("?")
    if form in FORMS:
        if not Path(path).exists():
            raise UserError(
                f"--labels {wanted}: there is no {path or 'path'}: expected {form}:PATH"
            )
        labels = _mapped(wanted, path, columns) if columns else FORMS[form](Path(path))
    elif path.isidentifier():
        labels = plugins.returned(wanted, Labels)
    else:
        raise UserError(
            f"--labels {wanted}: there is no form {form!r}{nearest(form, FORMS)}: expected "
            f"FORM:PATH with one of {', '.join(FORMS)}, or module:function of your own"
        )
    if not len(labels.frame):
        raise UserError(f"--labels {wanted}: there is no label in it")
    return labels


def _mapped(wanted: str, path: str, columns: str) -> Labels:
    pairs = dict(pair.partition("=")[::2] for pair in columns.split("&"))
    unknown = [name for name in pairs if name not in COLUMNS]
    if not wanted.startswith("csv:") or unknown:
        near = nearest(unknown[0], COLUMNS) if unknown else ""
        raise UserError(
            f"--labels {wanted}: expected csv:PATH?NAME=COLUMN with one of {', '.join(COLUMNS)}"
            f"{near}"
        )
    return from_csv(Path(path), pairs)
