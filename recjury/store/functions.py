"""SQL functions that the two databases name differently."""

from typing import Any

from sqlalchemy import Float, Integer
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class PlaceOf(FunctionElement[int]):
    """The place of the second text in the first, from 1; 0 if it is not in there."""

    type, inherit_cache = Integer(), True


@compiles(PlaceOf)
def _instr(element: PlaceOf, compiler: SQLCompiler, **options: Any) -> str:
    return f"instr({compiler.process(element.clauses, **options)})"


@compiles(PlaceOf, "postgresql")
def _strpos(element: PlaceOf, compiler: SQLCompiler, **options: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **options)})"


class Now(FunctionElement[float]):
    """The time in Unix seconds by the database's clock."""

    type, inherit_cache = Float(), True


@compiles(Now)
def _sqlite_now(_: Now, __: SQLCompiler, **___: Any) -> str:
    return "(julianday('now') - 2440587.5) * 86400.0"


@compiles(Now, "postgresql")
def _postgres_now(_: Now, __: SQLCompiler, **___: Any) -> str:
    return "extract(epoch from clock_timestamp())::float8"
