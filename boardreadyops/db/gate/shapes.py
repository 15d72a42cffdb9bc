"""A function as PostgreSQL will hold it: the same value from our file and from `pg_get_functiondef`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from postgast import pg_query_pb2 as pg

from boardreadyops.db.gate.bodies import body
from boardreadyops.db.gate.grammar import Node, inner, kind, plain, strings

_QUALIFIERS = frozenset({"pg_catalog", "public"})
_DEFAULTS = frozenset(
    {
        ("volatility", "volatile"),
        ("security", "invoker"),
        ("strict", "false"),
        ("leakproof", "false"),
        ("parallel", "unsafe"),
    }
)


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything that decides what a function does and with whose rights."""

    name: str
    arguments: tuple[str, ...]
    returns: str
    language: str
    rights: str
    settings: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    body: str

    @property
    def search_path(self) -> tuple[str, ...]:
        """The schemas of `SET search_path`, in order; empty without it."""
        for setting in self.settings:
            name, _, value = setting.partition("=")
            if name == "search_path":
                return tuple(value.split(","))
        return ()

    def differs_from(self, other: Shape) -> list[str]:
        """What differs, by name."""
        return [
            field.name for field in fields(self) if getattr(self, field.name) != getattr(other, field.name)
        ]


def shape(create: Node) -> Shape:
    """The shape of a CREATE FUNCTION or CREATE PROCEDURE node."""
    options = [inner(option) for option in create.options]
    words = {
        (option.defname, _word(option))
        for option in options
        if option.defname not in {"as", "language", "set"}
    }
    rights = dict(words).get("security", "invoker")
    return Shape(
        name=strings(create.funcname)[-1],
        arguments=tuple(_argument(inner(parameter)) for parameter in create.parameters),
        returns=_type(create.return_type) if create.HasField("return_type") else "",
        language=next((_word(option) for option in options if option.defname == "language"), ""),
        rights=rights,
        settings=tuple(sorted(_settings(options))),
        properties=tuple(sorted(words - _DEFAULTS - {("security", rights)})),
        body=body(create) or plain(create.sql_body),
    )


def _word(option: Node) -> str:
    arg = inner(option.arg)
    match kind(arg):
        case "Boolean" if option.defname == "security":
            return "definer" if arg.boolval else "invoker"
        case "Boolean":
            return str(arg.boolval).lower()
        case "String":
            return str(arg.sval).lower()
        case _:
            return plain(arg)


def _settings(options: list[Node]) -> Iterator[str]:
    for option in options:
        if option.defname == "set":
            setting = inner(option.arg)
            yield f"{setting.name}={','.join(_value(inner(arg)) for arg in setting.args)}"


def _value(constant: Node) -> str:
    return str(constant.sval.sval) if constant.HasField("sval") else plain(constant)


def _argument(parameter: Node) -> str:
    mode = pg.FunctionParameterMode.Name(parameter.mode).removeprefix("FUNC_PARAM_").lower()
    mode = "in" if mode == "default" else mode
    default = ""
    if parameter.HasField("defexpr"):
        value = inner(parameter.defexpr)
        while kind(value) == "TypeCast":
            value = inner(value.arg)
        default = f" default {plain(value)}"
    return f"{mode} {parameter.name} {_type(parameter.arg_type)}{default}"


def argument_types(shaped: Shape) -> tuple[str, ...]:
    """What tells one overload from another."""
    return tuple(
        argument.split(" ")[2] for argument in shaped.arguments if not argument.startswith(("out", "table"))
    )


def _type(type_name: Any) -> str:
    name = ".".join(part for part in strings(type_name.names) if part not in _QUALIFIERS)
    several = "setof-" if type_name.setof else ""
    return f"{several}{name}{'[]' * len(type_name.array_bounds)}{'%type' if type_name.pct_type else ''}"
