"""The words of a pack between which a model chooses, by log-probabilities."""

from recjury.llm.prompts import Pack
from recjury.llm.reading import check_choices


def words_of(pack: Pack, key: str, fewest: int) -> tuple[str, ...]:
    """The words under a key of a manifest. Raises UserError if they cannot be told apart."""
    words = pack.manifest.get(key)
    if not isinstance(words, list) or len(words) < fewest or {type(w) for w in words} != {str}:
        raise pack.error((key,), f"a list of at least {fewest} words in quotes is wanted")
    try:
        check_choices(words)
    except ValueError as problem:
        raise pack.error((key,), str(problem)) from None
    return tuple(words)
