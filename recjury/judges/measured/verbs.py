"""The verbs that the grammar rules know: only verbs with unambiguous forms.

A form is left out if it is also a common noun or adjective in the position that a rule checks.
"""

# base, third person, past, participle
_IRREGULAR = """
be is was been; become becomes became become; begin begins began begun; bring brings brought brought
choose chooses chose chosen; come comes came come; do does did done; find finds found found
forget forgets forgot forgotten; get gets got gotten; give gives gave given; go goes went gone
have has had had; hear hears heard heard; keep keeps kept kept; know knows knew known
make makes made made; say says said said; see sees saw seen; speak speaks spoke spoken
take takes took taken; tell tells told told
think thinks thought thought; write writes wrote written
"""
_REGULAR = (
    "act appear ask believe contain describe direct enjoy explain feature happen hate help include "
    "involve learn like love need offer portray prefer provide receive recommend remember remind "
    "seem star suggest tend try want watch"
)


def _third(base: str) -> str:
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z")) else "s")


def _past(base: str) -> str:
    if base == "prefer":
        return "preferred"
    if base == "star":
        return "starred"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + ("d" if base.endswith("e") else "ed")


_ROWS = [row.split() for line in _IRREGULAR.strip().splitlines() for row in line.split(";")]
_REGULAR_WORDS = _REGULAR.split()

BASE = frozenset([row[0] for row in _ROWS] + _REGULAR_WORDS)
THIRD = frozenset([row[1] for row in _ROWS] + [_third(word) for word in _REGULAR_WORDS])
PAST = frozenset([row[2] for row in _ROWS] + [_past(word) for word in _REGULAR_WORDS])
BE = frozenset({"be", "is", "was", "been", "are", "were", "am", "being"})
# Past forms that cannot follow "have", because the participle differs.
PAST_ONLY = frozenset(
    row[2] for row in _ROWS if row[2] not in {row[3], "saw", "was", "had", "forgot", "got"}
)
