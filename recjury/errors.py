"""The exception tree.

    RecjuryError
    ├── UserError          the user can fix it: one line, no traceback, exit code 2
    │   ├── ConfigError        a campaign file, an option or an environment variable
    │   ├── DataError          a data file or folder: names the file and the line
    │   ├── ProviderError      a model endpoint cannot be reached, or refuses the key or the model
    │   └── StoreError         the store cannot be opened, has another version, or lacks something
    └── UnitFailed         this unit failed: recorded with its reason, the campaign goes on
        ├── CallFailed         a model call failed after its retries
        │   └── PromptTooLong      the prompt is longer than the model's context
        ├── ParseError         a reply does not have the form that was asked for
        ├── SystemFailed       a system under test gave no usable answer
        └── BudgetSpent        the campaign's budget does not cover this call

Everything else is a bug and keeps its traceback.
"""

from pathlib import Path

from recjury.safe_text import without_keys


class RecjuryError(Exception):
    """The base of all errors of recjury. Their messages are stored, logged and shown."""

    def __init__(self, message: str = ""):
        """Keep the message without keys, which it may quote."""
        super().__init__(without_keys(message))


class UserError(RecjuryError):
    """An error that the user can correct.

    The message says what was expected, what was found, and what to do.
    """


class ConfigError(UserError):
    """A campaign file, an option or an environment variable is wrong or missing."""


class DataError(UserError):
    """A data file or folder is missing or corrupt."""

    def __init__(self, message: str, *, path: Path | str | None = None, line: int | None = None):
        """Prefix `message` with the file and the 1-based line, if they are known."""
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class ProviderError(UserError):
    """A model endpoint cannot be reached, refuses the key, or does not have the model."""


class StoreError(UserError):
    """The store cannot be opened, has another schema version, or lacks what was asked for."""


class UnitFailed(RecjuryError):
    """One unit of work failed; its reason is recorded and the campaign goes on."""


class CallFailed(UnitFailed):
    """A model call failed after all its retries, or at once if a retry cannot help.

    `permanent` is True if the endpoint refuses this request because of its content (a content
    filter, a prompt longer than the context): the same request would be refused again.
    """

    def __init__(self, message: str, *, permanent: bool = False):
        """Keep whether the same request would fail again."""
        super().__init__(message)
        self.permanent = permanent


class PromptTooLong(CallFailed):
    """A prompt that is longer than the model's context: a shorter one may be answered."""

    def __init__(self, message: str):
        """The same prompt would be refused again."""
        super().__init__(message, permanent=True)


class ParseError(UnitFailed):
    """A reply that is empty, cut off, not of the asked form, or out of range.

    `problem` is a phrase of ours, and may be shown to the model; what the reply holds may quote the
    text under test, so it stands in the message alone.
    """

    def __init__(self, problem: str, detail: str = ""):
        """`detail` is what the reply holds, in the message after `problem`."""
        super().__init__(f"{problem}: {detail}" if detail else problem)
        self.problem = problem


class SystemFailed(UnitFailed):
    """A system under test raised, timed out, or answered with nothing usable."""


class BudgetSpent(UnitFailed):
    """The campaign's budget does not cover this call."""
