"""Labels by form and path, or made by a function of one's own."""

from pathlib import Path

from recjury import plugins
from recjury.agreement.forms import FORMS
from recjury.agreement.labels import Labels
from recjury.errors import UserError
from recjury.files import nearest


def open_labels(wanted: str) -> Labels:
    """The labels that `FORM:PATH` names; `module:function` of one's own returns Labels.

    Raises UserError if there is no such form or file, or if there is no label in it.
    """
    form, _, path = wanted.partition(":")
    if form in FORMS:
        if not Path(path).exists():
            raise UserError(
                f"--labels {wanted}: there is no {path or 'path'}: expected {form}:PATH"
            )
        labels = FORMS[form](Path(path))
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
