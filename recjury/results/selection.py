"""Which trials a command is about: those of some names, that meet conditions, or that failed."""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import pandas as pd
from pandas.api.types import is_numeric_dtype

from recjury.errors import UserError
from recjury.files import nearest
from recjury.results.sentences import listed
from recjury.results.trials import trials
from recjury.store import PlannedConversation, Store

_CONDITION = re.compile(r"\s*(.+?)\s*(!=|<=|>=|==|=|<|>)\s*(.*?)\s*")
_SIGNS: Mapping[str, Callable[["pd.Series[float]", float], "pd.Series[bool]"]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BEFORE = {"system", "version", "user", "corpus", "scenario", "repeat", "conversation"}
"""Columns that are known before a trial is played."""


class _Condition(NamedTuple):
    """`core.overall<40`: the name of a column or a metric, an operator, and a value."""

    name: str
    sign: str
    value: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises UserError if the text is no condition."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise UserError(
                f"--where {text!r}: expected a name, one of = != < <= > >=, and a value, "
                "such as core.overall<40"
            )
        return cls(found[1], "=" if found[2] == "==" else found[2], found[3])

    @property
    def text(self) -> str:
        return f"--where {self.name}{self.sign}{self.value}"

    def fits(self, trials: pd.DataFrame) -> "pd.Series[bool]":
        """Which trials meet the condition. Raises UserError."""
        own = column_of(trials, self.name, option=self.text)
        if not is_numeric_dtype(own):
            return self._is(own.astype(object).fillna("").astype(str))
        try:
            return own.notna() & _SIGNS[self.sign](own, float(self.value))
        except ValueError:
            raise UserError(f"{self.text}: {self.name} is a number, got {self.value!r}") from None

    def _is(self, own: "pd.Series[str]") -> "pd.Series[bool]":
        """Whose text is, or is not, the condition's value. Raises UserError."""
        name, sign, value = self
        if sign not in ("=", "!="):
            raise UserError(f"{self.text}: {name} is a text: compare it by = or !=")
        known = sorted({*own} - {""})
        if value not in ("", *known):
            which = f"there are {listed(known)}" if known else "there is none yet"
            near = nearest(value, known)
            raise UserError(f"{self.text}: there is no such {name}{near}: {which}")
        return own == value if sign == "=" else own != value


@dataclass(frozen=True)
class Selection:
    """Trials by the names of systems, users and scenarios, by conditions, or those that failed.

    Several names of one kind are alternatives; all else narrows. A scenario may have its corpus
    before it (`redial/12`). A condition of `where` is about a column of `results.trials`, such as a
    metric: `ending=hit`, `core.overall<40`. A trial without a score meets none. `failed` are trials
    that a failure cost their conversation or a score. Raises UserError for what is no condition.
    """

    systems: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    failed: bool = False

    def __post_init__(self) -> None:
        for kind in ("systems", "users", "scenarios", "where"):
            if isinstance(getattr(self, kind), str):
                raise UserError(f"Selection({kind}=...): expected a tuple of names, got a text")
        self._conditions()

    def __bool__(self) -> bool:
        return self != Selection()

    @property
    def text(self) -> str:
        """The options of the command line that select this."""
        parts = [_option(kind, own) for kind, own in self._names()]
        parts += [condition.text for condition in self._conditions()]
        return " ".join((*parts, *(["--failed"] if self.failed else [])))

    @property
    def is_by_outcome(self) -> bool:
        """Whether trials are selected by what came of them."""
        return self.failed or not {each.name for each in self._conditions()} <= _BEFORE

    def of(self, trials: pd.DataFrame) -> pd.DataFrame:
        """The rows of a frame of trials, one part of the selection after the other.

        Raises UserError for names that are not there, and if none is left.
        """
        left, before = trials, list[str]()
        for option, fits in self._parts(trials):
            chosen = left[fits.loc[left.index]]
            if not len(chosen):
                which = f" of {listed(before)}" if before else ""
                raise UserError(f"{option} leaves none of {len(left)} conversations{which}")
            left, before = chosen, [*before, option]
        return left

    def of_plan(
        self, store: Store, campaign: str, rows: Iterable[PlannedConversation]
    ) -> frozenset[str]:
        """The ids of those of a plan, as they stand in the store. Raises UserError."""
        planned = pd.DataFrame(list(rows), columns=list(PlannedConversation._fields))
        planned = planned.rename(columns={"conversation": "id"})
        known = trials(store, campaign, all_versions=True)
        shared = [name for name in planned if name in known]
        found = known.drop(columns=[name for name in shared if name != "id"])
        joined = planned[shared].merge(found, "left", "id").fillna({"reason": ""})
        return frozenset(self.of(joined)["id"])

    def _names(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        kinds = {"system": self.systems, "user": self.users, "scenario": self.scenarios}
        yield from ((kind, names) for kind, names in kinds.items() if names)

    def _conditions(self) -> list[_Condition]:
        return [_Condition.read(text) for text in self.where]

    def _parts(self, trials: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[bool]"]]:
        for kind, names in self._names():
            yield _option(kind, names), _named(trials, kind, names)
        for condition in self._conditions():
            yield condition.text, condition.fits(trials)
        if self.failed:
            has_failed = trials["status"].isin(["failed", "unscored"]) | (trials["reason"] != "")
            yield "--failed", has_failed


ALL = Selection()


def column_of(trials: pd.DataFrame, name: str, *, option: str) -> "pd.Series[float]":
    """A column of trials; `overall` will do if one evaluator has such a metric.

    Raises UserError, which begins with the command line's `option`.
    """
    known = {"conversation" if each == "id" else str(each): each for each in trials.columns}
    meant = [name] if name in known else [each for each in known if each.endswith(f".{name}")]
    if len(meant) > 1:
        raise UserError(f"{option}: {name} is one of {listed(meant)}: name it whole")
    if not meant:
        raise UserError(f"{option}: there is no column or metric {name!r}{nearest(name, known)}")
    return trials[known[meant[0]]]


def _option(kind: str, names: Iterable[str]) -> str:
    return " ".join(f"--{kind} {name}" for name in names)


def _named(trials: pd.DataFrame, kind: str, names: Iterable[str]) -> "pd.Series[bool]":
    """Whose system, user or scenario has one of these names. Raises UserError."""
    own = trials[kind].astype(str)
    long = trials["corpus"].astype(str) + "/" + own if kind == "scenario" else own
    known = sorted({*own})
    for name in names:
        if name not in known and not (long == name).any():
            raise UserError(
                f"--{kind} {name}: there is no such {kind}{nearest(name, known)}: there are "
                f"{listed(known)}"
            )
    return own.isin(names) | long.isin(names)
