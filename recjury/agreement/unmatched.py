"""What of scores and labels could not be compared, in lines to read."""

from collections.abc import Iterable, Iterator, Mapping

from recjury.agreement.agreement import Agreements
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.score_files import Scores

_NAMED = 5  # ids in a line


def unmatched(
    predictions: Scores, people: LabelSet, pairs: Mapping[str, str], found: Agreements
) -> Iterator[str]:
    """A line for each kind: conversations without a partner, aspects nobody predicts, and labels
    that do not vary.

    Only metrics that are compared count (`pairs`: metric to aspect).
    """
    scored = {place.conversation for name in pairs for place in predictions[name]}
    aspects = set(pairs.values())
    labelled = {place.conversation for name in aspects for place in people.labels[name]}
    if alone := scored - labelled:
        yield f"{len(alone)} scored conversations have no label: {_some(alone)}"
    if alone := labelled - scored:
        yield f"{len(alone)} labelled conversations have no score: {_some(alone)}"
    if free := [name for name, own in people.labels.items() if own and name not in aspects]:
        yield f"aspects that no metric is compared with: {', '.join(free)}"
    for subset, own in found.items():
        for aspect in own:
            labels = set(people.labels_of(aspect, subset).values())
            if len(labels) == 1:
                yield f"{subset}, {aspect}: all labels are {labels.pop():g}, so nothing correlates"


def _some(names: Iterable[str]) -> str:
    several = sorted(names)
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return ", ".join(several[:_NAMED]) + more
