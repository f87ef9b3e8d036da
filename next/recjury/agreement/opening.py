"""Labels by form and path, or made by a function of one's own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
        labels = _own(wanted)
    else:
        raise UserError(
            f"--labels {wanted}: there is no form {form!r}{nearest(form, FORMS)}: expected "
            f"FORM:PATH with one of {', '.join(FORMS)}, or module:function of your own"
        )
    if not len(labels.frame):
        raise UserError(f"--labels {wanted}: there is no label in it")
    return labels


def _own(wanted: str) -> Labels:
    """What a function of one's own returns. Raises UserError, whatever it does."""
    function: Callable[[], Any] = plugins.load(wanted).value
    try:
        labels = function()
    except UserError:
        raise
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(f"--labels {wanted} raised {message}") from error
    if not isinstance(labels, Labels):
        raise UserError(f"--labels {wanted}: expected Labels of recjury.agreement")
    return labels
