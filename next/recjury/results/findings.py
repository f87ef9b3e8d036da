"""`Findings`: what every command and analysis returns, and one function shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Findings:
    """A result for people and for programs.

    `answer` is one or two lines. `tables` are frames by their headings, `text` is a document such
    as a debate, `notes` say what is not to be trusted, `problems` what failed or has no score.
    `data` has the stable keys of `--json`.
    """

    title: str
    answer: str
    tables: Mapping[str, "pd.DataFrame"] = field(default_factory=dict)
    text: str = ""
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
