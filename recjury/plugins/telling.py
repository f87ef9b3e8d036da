"""The text of a plugin's exception, as a reason that can be stored."""

from pydantic import ValidationError

_LONGEST = 500  # characters


def describe_exception(error: BaseException) -> str:
    """The type of an exception and its message."""
    return f"{type(error).__name__}: {exception_message(error)}"


def exception_message(error: BaseException) -> str:
    """The message of an exception, in one short line of valid Unicode.

    Of a pydantic ValidationError this is the first thing that is wrong, with its field.
    """
    try:
        said = _first_problem(error) if isinstance(error, ValidationError) else str(error)
    except Exception:  # a `__str__` may do anything
        said = "(it cannot be said)"
    line = " ".join(said.replace("\0", r"\0").split())
    short = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    return short.encode("utf-8", "backslashreplace").decode()


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    return f"{field}: {message}" if field else message
