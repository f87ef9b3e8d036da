"""Anyone's own Python code: found, identified, called, and kept from doing harm."""

from recjury.foreign.calling import TIMEOUT, foreign_call
from recjury.foreign.identity import as_json, of_this_process, source_digest
from recjury.foreign.loading import Maker, entry_points, load_maker
from recjury.foreign.printing import prints_aside
from recjury.foreign.telling import one_line, told

__all__ = [
    "TIMEOUT",
    "Maker",
    "as_json",
    "entry_points",
    "foreign_call",
    "load_maker",
    "of_this_process",
    "one_line",
    "prints_aside",
    "source_digest",
    "told",
]
