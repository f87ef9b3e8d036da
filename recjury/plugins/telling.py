"""What a foreign exception says, as a reason that can be kept."""

_LONGEST = 500  # characters


def describe_exception(error: BaseException) -> str:
    """What a foreign exception is and says, as `exception_message` has it."""
    return f"{type(error).__name__}: {exception_message(error)}"


def exception_message(error: BaseException) -> str:
    """What a foreign exception says, in one short line of Unicode."""
    try:
        said = str(error)
    except Exception:  # a foreign `__str__` may do anything
        said = "(it cannot be said)"
    line = " ".join(said.replace("\0", r"\0").split())
    short = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    return short.encode("utf-8", "backslashreplace").decode()
