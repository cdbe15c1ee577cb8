"""Which route of an HTTP API a request belongs to, by API Gateway's order of preference."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from satchel.local.template import Route

_PARAMETER = re.compile(r"\{([^}+]+)(\+?)\}")


@dataclass(frozen=True)
class Match:
    """A route and what its path parameters stand for in this request, decoded."""

    route: Route
    path_parameters: Mapping[str, str]


class RouteTable:
    """Routes in the order in which API Gateway tries them.

    Literal segments win over `{name}`, `{name}` over `{name+}`, a named method over `ANY`, everything over `$default`:
    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html
    """

    def __init__(self, routes: Sequence[Route]) -> None:
        ordered = sorted((route for route in routes if route.path), key=_preference)
        self._patterns = [(route, _pattern(route.path)) for route in ordered]
        self._default = next((route for route in routes if not route.path), None)

    def match(self, method: str, path: str) -> Match | None:
        """The route for a request.

        Args:
            method: The HTTP method, upper case.
            path: The path as sent; `%3A` and `:` are the same, and `%2F` does not divide segments.
        """
        parts = _segments(path)
        for route, pattern in self._patterns:
            if route.method in {method, "ANY"} and (parameters := _fit(pattern, parts)) is not None:
                return Match(route, parameters)
        return Match(self._default, {}) if self._default is not None else None


@dataclass(frozen=True)
class _Segment:
    literal: str | None
    parameter: str = ""
    greedy: bool = False


def _pattern(path: str) -> tuple[_Segment, ...]:
    segments: list[_Segment] = []
    for part in _segments(path):
        match = _PARAMETER.fullmatch(part)
        segments.append(_Segment(None, match[1], bool(match[2])) if match else _Segment(part))
    return tuple(segments)


def _preference(route: Route) -> tuple[tuple[int, ...], bool]:
    ranks = tuple(0 if segment.literal is not None else 2 if segment.greedy else 1 for segment in _pattern(route.path))
    return ranks, route.method == "ANY"


def _segments(path: str) -> tuple[str, ...]:
    return tuple(unquote(part) for part in path.strip("/").split("/"))


def _fit(pattern: tuple[_Segment, ...], parts: tuple[str, ...]) -> dict[str, str] | None:
    parameters: dict[str, str] = {}
    for index, segment in enumerate(pattern):
        if segment.greedy:
            rest = "/".join(parts[index:])
            return {**parameters, segment.parameter: rest} if rest else None
        if index >= len(parts) or (segment.literal is not None and segment.literal != parts[index]):
            return None
        if segment.literal is None:
            if not parts[index]:
                return None
            parameters[segment.parameter] = parts[index]
    return parameters if len(pattern) == len(parts) else None
