"""Which trials a command is about: those of some names, that meet conditions, or that failed."""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from recjury.errors import UserError
from recjury.files import nearest
from recjury.results.ratings import LOST, TRIAL, ratings, scores
from recjury.results.sentences import listed
from recjury.store import ConversationRow, PlannedConversation, Store

if TYPE_CHECKING:
    import pandas as pd

_CONDITION = re.compile(r"\s*(.+?)\s*(!=|<=|>=|==|=|<|>)\s*(.*?)\s*")
_SIGNS: "Mapping[str, Callable[[pd.Series[float], float], pd.Series[bool]]]" = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TEXTS = ("system", "user", "corpus", "scenario", "ending", "version", "conversation")
_NUMBERS = ("repeat", "rounds")


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


@dataclass(frozen=True)
class Selection:
    """Trials by the names of systems, users and scenarios, by conditions, or those that failed.

    Several names of one kind are alternatives; all else narrows. A scenario may have its corpus
    before it (`redial/12`). A condition of `where` is about a column of `results.ratings` or a
    metric: `ending=hit`, `core.overall<40`. A trial without a score meets none. `failed` are trials
    that a failure cost their conversation or a score. Raises UserError for what is no condition.
    """

    systems: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    failed: bool = False

    def __post_init__(self) -> None:
        self._conditions()

    def __bool__(self) -> bool:
        return self != Selection()

    @property
    def text(self) -> str:
        """The options of the command line that select this."""
        names = (("system", self.systems), ("user", self.users), ("scenario", self.scenarios))
        parts = [_option(kind, own) for kind, own in names if own]
        parts += [condition.text for condition in self._conditions()]
        return " ".join((*parts, *(["--failed"] if self.failed else [])))

    @property
    def is_by_outcome(self) -> bool:
        """Whether trials are selected by what came of them."""
        names = {condition.name for condition in self._conditions()}
        return self.failed or not names <= {*_TEXTS, "repeat"} - {"ending"}

    def of_ratings(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """The rows of a frame of ratings. Raises UserError: unknown names, none that is left."""
        if not self:
            return frame
        trials = frame.drop_duplicates("conversation").astype({"conversation": str})
        chosen = self._of(_Trials(trials, lambda: frame))
        return frame[frame["conversation"].isin(chosen["conversation"])]

    def of_conversations(
        self, store: Store, campaign: str, rows: Iterable[ConversationRow]
    ) -> list[ConversationRow]:
        """Those of a campaign's conversations, played or not. Raises UserError."""
        rows = list(rows)
        if not self:
            return rows
        ids = self._ids(store, campaign, _frame(rows, ConversationRow))
        return [row for row in rows if row.id in ids]

    def of_plan(
        self, store: Store, campaign: str, rows: Iterable[PlannedConversation]
    ) -> frozenset[str]:
        """The ids of those of a plan, as they stand in the store. Raises UserError."""
        planned = _frame(rows, PlannedConversation).rename(columns={"conversation": "id"})
        columns = ["id", "ending", "rounds", "reason"]
        stored = _frame(store.conversations(campaign), ConversationRow)[columns]
        stored = stored.drop_duplicates("id", keep="last")
        joined = planned.merge(stored, "left", "id")
        joined["reason"] = joined["reason"].fillna("")
        return self._ids(store, campaign, joined)

    def _ids(self, store: Store, campaign: str, rows: "pd.DataFrame") -> frozenset[str]:
        chosen = self._of(_stored(store, campaign, rows))
        return frozenset(chosen["conversation"])

    def _of(self, trials: "_Trials") -> "pd.DataFrame":
        """The trials that are left, one part of the selection after the other."""
        left, before = trials.table, list[str]()
        for option, fits in self._parts(trials):
            chosen = left[fits.loc[left.index]]
            if not len(chosen):
                which = f" of {listed(before)}" if before else ""
                raise UserError(f"{option} leaves none of {len(left)} conversations{which}")
            left, before = chosen, [*before, option]
        return left

    def _parts(self, trials: "_Trials") -> Iterator[tuple[str, "pd.Series[bool]"]]:
        for kind, names in (
            ("system", self.systems),
            ("user", self.users),
            ("scenario", self.scenarios),
        ):
            if names:
                yield _option(kind, names), trials.named(kind, names)
        for condition in self._conditions():
            yield condition.text, trials.meets(condition)
        if self.failed:
            yield "--failed", trials.failed

    def _conditions(self) -> list[_Condition]:
        return [_Condition.read(text) for text in self.where]


ALL = Selection()


def scores_by(store: Store, campaign: str, rows: "pd.DataFrame", metric: str) -> "pd.Series[float]":
    """The scores of one metric for rows of conversations. Raises UserError if there are none."""
    return _stored(store, campaign, rows).score(metric, option=f"--sort {metric}")


def _stored(store: Store, campaign: str, rows: "pd.DataFrame") -> "_Trials":
    trials = rows.rename(columns={"id": "conversation", "reason": "failure"})
    return _Trials(trials, lambda: ratings(store, campaign, all_versions=True))


def _option(kind: str, names: Iterable[str]) -> str:
    return " ".join(f"--{kind} {name}" for name in names)


def _frame(rows: Iterable[Any], kind: Any) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(kind._fields))


class _Trials:
    """A row for each conversation, and its scores, which are read only if a part asks for them."""

    def __init__(self, table: "pd.DataFrame", read: Callable[[], "pd.DataFrame"]):
        self.table, self._read = table, read

    @cached_property
    def _ratings(self) -> "pd.DataFrame":
        return self._read()

    @cached_property
    def _scores(self) -> "pd.DataFrame":
        """A row for each conversation of the table, a column for each metric."""
        import pandas as pd

        rated = self._ratings
        if not len(rated):
            return pd.DataFrame(index=self.table["conversation"])
        ids = rated.drop_duplicates(TRIAL).set_index(TRIAL)["conversation"].astype(str)
        found = scores(rated)
        found = found.set_axis(ids.loc[found.index])
        return found[~found.index.duplicated()].reindex(self.table["conversation"])

    @property
    def failed(self) -> "pd.Series[bool]":
        """Whose conversation failed, or who lost a score."""
        rated = self._ratings
        lost = rated["conversation"][rated["status"].isin(LOST)].astype(str)
        return self.table["conversation"].isin(lost) | (self.table["failure"].astype(str) != "")

    def named(self, kind: str, names: Iterable[str]) -> "pd.Series[bool]":
        """Whose system, user or scenario has one of these names. Raises UserError."""
        own = self.table[kind].astype(str)
        long = self.table["corpus"].astype(str) + "/" + own if kind == "scenario" else own
        known = sorted({*own})
        for name in names:
            if name not in known and not (long == name).any():
                raise UserError(
                    f"--{kind} {name}: there is no such {kind}{nearest(name, known)}: there are "
                    f"{listed(known)}"
                )
        return own.isin(names) | long.isin(names)

    def meets(self, condition: _Condition) -> "pd.Series[bool]":
        """Who meets a condition. Raises UserError."""
        name, sign, value = condition
        if name in _TEXTS:
            return self._is(condition)
        is_metric = name not in _NUMBERS
        column = self.score(name, condition.text) if is_metric else self.table[name]
        try:
            number = float(value)
        except ValueError:
            raise UserError(f"{condition.text}: {name} is a number, got {value!r}") from None
        return column.notna() & _SIGNS[sign](column, number)

    def _is(self, condition: _Condition) -> "pd.Series[bool]":
        """Whose text is, or is not, the condition's value. Raises UserError."""
        name, sign, value = condition
        if sign not in ("=", "!="):
            raise UserError(f"{condition.text}: {name} is a text: compare it by = or !=")
        own = self.table[name].astype(object).fillna("").astype(str)
        known = sorted({*own} - {""})
        if value not in ("", *known):
            which = f"there are {listed(known)}" if known else "there is none yet"
            near = nearest(value, known)
            raise UserError(f"{condition.text}: there is no such {name}{near}: {which}")
        return own == value if sign == "=" else own != value

    def score(self, name: str, option: str) -> "pd.Series[float]":
        """The scores of one metric; `overall` will do if one evaluator has it. Raises UserError."""
        known = list(map(str, self._scores.columns))
        meant = [name] if name in known else [id_ for id_ in known if id_.endswith(f".{name}")]
        if len(meant) > 1:
            raise UserError(f"{option}: {name} is one of {listed(meant)}: name it whole")
        if not meant:
            near = nearest(name, (*_TEXTS, *_NUMBERS, *known))
            raise UserError(f"{option}: there is no column or metric {name!r}{near}")
        return self._scores[meant[0]].set_axis(self.table.index)
