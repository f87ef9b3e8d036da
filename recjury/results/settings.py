"""The settings in which the variants of a grid differ, as columns of tables."""

from collections.abc import Iterable

import pandas as pd

from recjury.records import factors


def settings_of(names: Iterable[str]) -> pd.DataFrame:
    """By the name of each variant of a grid (`vary`), a column for each setting, as texts.

    There are no columns if none of the names is that of a variant.
    """
    names = list(dict.fromkeys(names))
    return pd.DataFrame.from_dict(factors(names), orient="index").reindex(names)


def with_settings(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """The table with the settings of the variants that its column names, behind that column."""
    return _inserted(table, settings_of(table[column]).loc[table[column]], column)


def with_settings_of_both(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the settings of the variants `a` and `b`: `0.2`, or `0.2 to 0.7`."""
    of_all = settings_of((*table["a"], *table["b"])).fillna("-")
    a, b = of_all.loc[table["a"]], of_all.loc[table["b"]]
    b.index = a.index
    return _inserted(table, a.where(a == b, a + " to " + b), "b")


def _inserted(table: pd.DataFrame, settings: pd.DataFrame, column: str) -> pd.DataFrame:
    place = list(table.columns).index(column) + 1
    parts = [table.iloc[:, :place], settings.set_axis(table.index), table.iloc[:, place:]]
    return pd.concat(parts, axis=1)
