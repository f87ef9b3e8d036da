"""The one rating per factor that tables show, whoever and however many rated."""

from collections.abc import Sequence

from recjury.judges import one_per_factor
from recjury.records import Factor, Level, Rating

_TWELVE = frozenset(factor.value for factor in Factor)


def headline(ratings: Sequence[Rating]) -> dict[str, Rating]:
    """One dialogue-level rating per factor or aspect: the mean of the judges where there is one.

    The twelve factors come first and in their order, the others (Persuasiveness) as given.
    """
    whole = [rating for rating in ratings if rating.level is Level.DIALOGUE]
    shown = {rating.factor: rating for rating in one_per_factor(whole)}
    for rating in whole:
        if rating.factor not in _TWELVE:
            shown.setdefault(rating.factor, rating)
    return shown
