"""Queries whose SQL is composed once a process: composing it anew is most of what a query costs in Django."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, models
from django.db.models.query import QuerySet, get_related_populators
from django.db.models.sql import UpdateQuery
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row", bound=models.Model)


class Slot(models.Value):
    """A value that comes with each use of a prepared query, as it goes into the database (no dates)."""

    value: int

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        return "%s", (self,)


def slots_of(compose: Callable[..., Any]) -> list[Slot]:
    return [Slot(place) for place in range(len(signature(compose).parameters))]


def filled(parameters: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    return [values[each.value] if isinstance(each, Slot) else each for each in parameters]


@dataclass(frozen=True)
class _Plan(Generic[Row]):
    """A query as SQL, and the way from its rows to objects."""

    sql: str
    parameters: Sequence[Any]
    compiler: SQLCompiler
    model: type[Row]
    names: list[str]
    columns: slice
    converters: dict[Any, Any]
    populators: list[Any]

    @classmethod
    def of(cls, queryset: QuerySet[Row]) -> _Plan[Row]:
        compiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        info, select = compiler.klass_info, compiler.select
        populators: Any = get_related_populators  # its stubs are of a later Django
        columns = slice(info["select_fields"][0], info["select_fields"][-1] + 1)
        return cls(
            sql=sql,
            parameters=parameters,
            compiler=compiler,
            model=info["model"],
            names=[column[0].target.attname for column in select[columns]],
            columns=columns,
            converters=compiler.get_converters([column[0] for column in select[: compiler.col_count]]),
            populators=populators(info, select, DEFAULT_DB_ALIAS),
        )

    def run(self, values: Sequence[Any]) -> list[Row]:
        with connection.cursor() as cursor:
            cursor.execute(self.sql, filled(self.parameters, values))
            rows = cursor.fetchall()
        if self.converters:
            rows = self.compiler.apply_converters(rows, self.converters)
        return [self.object_of(row) for row in rows]

    def object_of(self, row: Sequence[Any]) -> Row:
        made = self.model.from_db(DEFAULT_DB_ALIAS, self.names, row[self.columns])
        for populator in self.populators:
            populator.populate(row, made)
        return made


class Prepared(Generic[Row]):
    """A query of model objects. `compose` gets a Slot for each of its parameters and returns the queryset, without
    annotations; a call gives their values, in that order, and returns the objects."""

    def __init__(self, compose: Callable[..., QuerySet[Row]]) -> None:
        self._compose, self._plan = compose, None

    _plan: _Plan[Row] | None

    def __call__(self, *values: Any) -> list[Row]:
        if self._plan is None:
            self._plan = _Plan.of(self._compose(*slots_of(self._compose)))
        return self._plan.run(values)

    def first(self, *values: Any) -> Row | None:
        """The first object; the query itself says that it wants one."""
        return next(iter(self(*values)), None)


class PreparedUpdate:
    """As Prepared, for an update: `compose` returns the queryset and what each field becomes."""

    def __init__(self, compose: Callable[..., tuple[QuerySet[Any], dict[str, Any]]]) -> None:
        self._compose = compose
        self._plan: tuple[str, Sequence[Any]] | None = None

    def __call__(self, *values: Any) -> None:
        if self._plan is None:
            queryset, changes = self._compose(*slots_of(self._compose))
            query: Any = queryset.query.chain(UpdateQuery)
            query.add_update_values(changes)
            self._plan = query.get_compiler(using=DEFAULT_DB_ALIAS).as_sql()
        sql, parameters = self._plan
        with connection.cursor() as cursor:
            cursor.execute(sql, filled(parameters, values))


@lru_cache
def _insertion(model: type[models.Model]) -> tuple[str, list[Any]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(_quoted(field) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    table, key = connection.ops.quote_name(model._meta.db_table), _quoted(model._meta.pk)
    return f"INSERT INTO {table} ({columns}) VALUES ({places}) RETURNING {key}", fields


@lru_cache
def _change(model: type[models.Model], names: tuple[str, ...]) -> tuple[str, list[Any]]:
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    changes = ", ".join(f"{_quoted(field)} = %s" for field in fields)
    table, key = connection.ops.quote_name(model._meta.db_table), _quoted(model._meta.pk)
    return f"UPDATE {table} SET {changes} WHERE {key} = %s", fields


def _quoted(field: Any) -> str:
    return str(connection.ops.quote_name(field.column))


def insert(row: models.Model) -> None:
    """A new row with its id, as `row.save(force_insert=True)` does; no signals."""
    sql, fields = _insertion(type(row))
    values = [field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        (row.pk,) = cursor.fetchone() or (None,)
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def update(row: models.Model, *names: str) -> None:
    """As `row.save(update_fields=names)`; no signals. Raises DatabaseError if the row is gone."""
    sql, fields = _change(type(row), names)
    values = [field.get_db_prep_save(field.pre_save(row, False), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*values, row.pk])
        if cursor.rowcount != 1:
            raise DatabaseError(f"{row._meta.label} {row.pk} is gone.")
