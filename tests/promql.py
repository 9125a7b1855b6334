"""Reads PromQL well enough to know what an expression asks for: metrics, labels and values of labels.

Not a parser: it finds names by what stands before and after them. Source of the grammar:
https://prometheus.io/docs/prometheus/latest/querying/basics/ and .../operators/.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"|(?P<range>\[[^\]]*\])"
    r"|(?P<word>[a-zA-Z_:][a-zA-Z0-9_:]*)"
    r"|(?P<number>\d[\d.]*(?:e[+-]?\d+)?[smhdwy]?)"
    r"|(?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^(){},=<>@])"
    r"|(?P<space>\s+)"
)
GROUPING = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
OPERATORS = frozenset({"and", "or", "unless", "bool", "offset"})
# Those that are used; a new one is added here once it is known to be spelt right.
FUNCTIONS = frozenset(
    {
        "count",
        "deriv",
        "histogram_quantile",
        "increase",
        "max",
        "min",
        "min_over_time",
        "rate",
        "scalar",
        "sum",
    }
    | {"vector"}
)


@dataclass
class Asked:
    """What an expression asks for: by metric, which labels must have which value; and labels to group by."""

    metrics: list[tuple[str, tuple[tuple[str, str, str], ...]]] = field(default_factory=list)
    grouped_by: set[str] = field(default_factory=set)


def tokens(expression: str) -> Iterator[str]:
    """Yield the tokens.

    Raises:
        ValueError: something is no PromQL.
    """
    place = 0
    while place < len(expression):
        found = TOKEN.match(expression, place)
        if found is None:
            raise ValueError(f"no PromQL from '{expression[place : place + 20]}': {expression}")
        place = found.end()
        if found.lastgroup != "space":
            yield found.group()


def read(expression: str) -> Asked:
    """Return what an expression asks for.

    Raises:
        ValueError: a function is not known, or brackets do not match.
    """
    found = Asked()
    rest = list(tokens(expression))
    if any(rest.count(opening) != rest.count(closing) for opening, closing in ("()", "{}")):
        raise ValueError(f"brackets do not match: {expression}")
    while rest:
        word = rest.pop(0)
        following = rest[0] if rest else ""
        if word in GROUPING and following == "(":
            found.grouped_by.update(_until(rest, ")"))
        elif word == "{":
            raise ValueError(f"labels without a metric: {expression}")
        elif not re.match(r"[a-zA-Z_:]", word) or word in OPERATORS | GROUPING:
            continue
        elif following == "(" or following in GROUPING:
            if word not in FUNCTIONS:
                raise ValueError(f"unknown function {word}: {expression}")
        else:
            found.metrics.append((word, tuple(_matchers(rest)) if following == "{" else ()))
    return found


def _until(rest: list[str], closing: str) -> Iterator[str]:
    """Take tokens up to a closing bracket; yield those between, without commas."""
    rest.pop(0)
    while (part := rest.pop(0)) != closing:
        if part != ",":
            yield part


def _matchers(rest: list[str]) -> Iterator[tuple[str, str, str]]:
    """Take the labels of a metric; yield name, operator and value."""
    parts = iter(list(_until(rest, "}")))
    for name in parts:
        yield name, next(parts), next(parts)[1:-1]
