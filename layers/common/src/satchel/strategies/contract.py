"""What a strategy's code must look like, told from its syntax alone: it is never run here.

A strategy is a module with one class derived from `Strategy` of backtesting.py. A JSON object in its docstring may
name its parameters, symbols and timeframe.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from satchel.errors import InvalidInputError, TooLargeError
from satchel.postgres.text import storable_text
from satchel.strategies.parameters import constants, disagreement

MAX_CODE_BYTES = 100_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}")
_HEADER_KEYS = {"name", "description", "timeframe", "symbols", "params"}
# Far beyond any parameter; a number of 4,300 digits is one that Python does not write.
_MAX_HEADER_DEPTH = 16
_MAX_BITS = 1_024
# Bases of backtesting.lib that bring their own `init` and `next`.
_COMPLETE_BASES = frozenset({"SignalStrategy", "TrailingStrategy"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the code says about itself.

    Attributes:
        class_name: The strategy's class.
        description: The header's, else the docstring's first line.
        timeframe: As in the header; empty where it has none.
        symbols: As in the header.
        params: Parameter names and defaults: the class's own constants, and what else the header names.
    """

    class_name: str
    description: str
    timeframe: str
    symbols: tuple[str, ...]
    params: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The metadata as it is stored and shown."""
        return {
            "class": self.class_name,
            "description": self.description,
            "timeframe": self.timeframe,
            "symbols": list(self.symbols),
            "params": self.params,
        }


def read_strategy_code(code: str) -> Metadata:
    """The metadata of strategy code that fulfils the contract.

    Raises:
        TooLargeError: It is over 100,000 bytes.
        InvalidInputError: It does not fulfil it; the message begins with `line N:` and says why.
    """
    if len(code.encode()) > MAX_CODE_BYTES:
        raise TooLargeError(f"code is over {MAX_CODE_BYTES} bytes", field="code")
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        raise _refusal(error.lineno or 1, f"this is no Python: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise _refusal(1, "this is no Python that can be read") from error
    strategy = _strategy_class(tree)
    for line, reason in _looks_ahead(tree):
        raise _refusal(line, f"look-ahead: {reason}")
    header, header_line = _header(tree)
    params = header.get("params", {})
    classes = _classes(tree)
    family = _family(strategy, classes)
    bases = {base for node in family for base in _base_names(node)}
    wrong = disagreement(params, family, tree, whole=bases <= {"Strategy", *_COMPLETE_BASES, *classes})
    if wrong is not None:
        line, reason = wrong
        raise _refusal(line or header_line, reason)
    docstring = ast.get_docstring(tree) or ast.get_docstring(strategy) or ""
    return Metadata(
        class_name=strategy.name,
        description=header.get("description") or _first_line(docstring),
        timeframe=header.get("timeframe", ""),
        symbols=tuple(header.get("symbols", [])),
        params=_own_params(strategy) | params,
    )


def _refusal(line: int, reason: str) -> InvalidInputError:
    return InvalidInputError(f"line {line}: {reason}", field="code")


def _strategy_class(tree: ast.Module) -> ast.ClassDef:
    classes = _classes(tree)
    strategies = [node for node in classes.values() if _is_strategy(node, classes)]
    if not strategies:
        raise _refusal(1, "there is no class derived from Strategy (from backtesting import Strategy)")
    bases = {base for node in strategies for base in _base_names(node)}
    leaves = [node for node in strategies if node.name not in bases]
    if len(leaves) != 1:
        raise _refusal(leaves[1].lineno, "there is a second strategy class; a module holds one")
    leaf = leaves[0]
    family = _family(leaf, classes)
    methods = {item.name for node in family for item in node.body if isinstance(item, ast.FunctionDef)}
    if not any(_COMPLETE_BASES.intersection(_base_names(node)) for node in family):
        for method in ("init", "next"):
            if method not in methods:
                raise _refusal(leaf.lineno, f"{leaf.name} has no method {method}(self)")
    return leaf


def _classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _base_names(node: ast.ClassDef) -> list[str]:
    return [base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases]


def _family(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """The class and those of its module that it derives from, the nearest first."""
    found = [node]
    for member in found:
        bases = [classes[name] for name in _base_names(member) if name in classes]
        found += [base for base in bases if base not in found]
    return found


def _is_strategy(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    known = {"Strategy"} | _COMPLETE_BASES
    return any(
        name in known and name not in classes for member in _family(node, classes) for name in _base_names(member)
    )


def _looks_ahead(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Ways of writing that read a later bar, in order of line. What hides better is caught by the backtest."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            arguments = {keyword.arg: keyword.value for keyword in node.keywords}
            if node.func.attr in {"shift", "diff", "pct_change", "roll"}:
                amounts = [*node.args, *(arguments[name] for name in ("periods", "shift") if name in arguments)]
                if any(_is_negative(amount) for amount in amounts):
                    found.append((node.lineno, f"{node.func.attr} by a negative number reads later bars"))
            if node.func.attr == "rolling" and _is_true(arguments.get("center")):
                found.append((node.lineno, "a centred window reads later bars"))
            if node.func.attr in {"bfill", "backfill"}:
                found.append((node.lineno, f"{node.func.attr} fills with later bars"))
        if isinstance(node, ast.Attribute) and node.attr.startswith(("_Data__", "_Strategy__", "_broker")):
            found.append((node.lineno, f"{node.attr} reaches past what a strategy may see"))
    return iter(sorted(found))


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _header(tree: ast.Module) -> tuple[dict[str, Any], int]:
    """The JSON object in the module's docstring, empty where it has none, and its line."""
    docstring = ast.get_docstring(tree, clean=False) or ""
    start = docstring.find("{")
    if start < 0:
        return {}, 1
    line = docstring[:start].count("\n") + tree.body[0].lineno
    try:
        header, _ = _HEADER.raw_decode(docstring, start)
    except RecursionError as error:
        raise _refusal(line, "the docstring's header is nested too deep") from error
    except ValueError as error:
        raise _refusal(line, f"the docstring's header is no JSON: {error}") from error
    if not _is_storable(header, _MAX_HEADER_DEPTH):
        raise _refusal(line, "the docstring's header is nested too deep, or holds what cannot be stored")
    header = cast("dict[str, Any]", header)
    shapes = {"name": str, "description": str, "timeframe": str, "symbols": list, "params": dict}
    for key, value in header.items():
        if key not in _HEADER_KEYS:
            raise _refusal(line, f"the header knows {', '.join(sorted(_HEADER_KEYS))}, not {key!r}")
        if not isinstance(value, shapes[key]):
            raise _refusal(line, f"the header's {key} is of the wrong type")
    if not all(isinstance(symbol, str) for symbol in header.get("symbols", [])):
        raise _refusal(line, "the header's symbols are texts")
    return header, line


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


_HEADER = json.JSONDecoder(object_pairs_hook=_once)


def _is_storable(value: Any, depth: int) -> bool:
    """Whether `value` is JSON that the store can hold, nested at most `depth` deep.

    It has no NUL or lone surrogate in a text, no infinity, no number whose digits nobody wants.
    """
    if isinstance(value, str):
        return storable_text(value) == value
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= _MAX_BITS
    if isinstance(value, list | dict):
        held = cast("list[Any] | dict[str, Any]", value)
        items = [*held, *held.values()] if isinstance(held, dict) else held
        return depth > 0 and all(_is_storable(item, depth - 1) for item in items)
    return value is None


def _own_params(strategy: ast.ClassDef) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, (line, value) in constants(strategy).items():
        if not _is_storable(value, 0):
            raise _refusal(line, f"{name} is a value that cannot be stored")
        found[name] = value
    return found


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("{")), "")
