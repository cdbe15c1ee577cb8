"""A strategy's parameters, told from the syntax of its classes: names, defaults, and whether a header says the same."""

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def constants(strategy: ast.ClassDef) -> dict[str, tuple[int, Any]]:
    """Line and value of the class's own numbers and texts: what a run may set."""
    return {
        name: (line, value)
        for name, (line, value) in _literals(strategy).items()
        if not name.startswith("_") and isinstance(value, bool | int | float | str)
    }


def disagreement(
    header: Mapping[str, Any], family: Sequence[ast.ClassDef], tree: ast.Module, *, whole: bool
) -> tuple[int | None, str] | None:
    """The first parameter of a header that is not what would run.

    An attribute that is computed, or set from outside of its class, is let through: its value is known only when it
    runs.

    Args:
        header: The parameters of the header.
        family: The strategy's class and those of its module that it derives from, the nearest first.
        tree: The module.
        whole: Whether nothing but the library gives them attributes beside that.

    Returns:
        The line of the class that says otherwise, None where it has no such attribute, and what is wrong.
    """
    names = {node.name for node in family}
    outside = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id in names
    }
    for name, given in header.items():
        owner = next((node for node in family if name in _assigned(node)), None)
        if name in outside or (owner is None and not whole):
            continue
        if owner is None:
            return None, f"the header names the parameter {name!r}, and {family[0].name} has no attribute of this name"
        line, value = _literals(owner).get(name, (0, given))
        if value != given:
            return line, f"{name} is not {given!r} here, as the docstring's header says; they must be the same"
    return None


def _assigned(strategy: ast.ClassDef) -> Counter[str]:
    """How often the class's body gives a name a value."""
    names = Counter(node.name for node in strategy.body if isinstance(node, ast.FunctionDef))
    pending: list[ast.AST] = [*strategy.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.AnnAssign) and node.value is None):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] += 1
        pending += ast.iter_child_nodes(node)
    return names


def _literals(strategy: ast.ClassDef) -> dict[str, tuple[int, Any]]:
    """Line and value of each attribute that the class's body sets once, and to a literal."""
    assigned = _assigned(strategy)
    found: dict[str, tuple[int, Any]] = {}
    for item in strategy.body:
        targets = (
            item.targets if isinstance(item, ast.Assign) else [item.target] if isinstance(item, ast.AnnAssign) else []
        )
        for target in targets:
            if (
                isinstance(target, ast.Name)
                and isinstance(item, ast.Assign | ast.AnnAssign)
                and item.value is not None
                and assigned[target.id] == 1
            ):
                try:
                    value = ast.literal_eval(item.value)
                except (ValueError, TypeError):  # no literal, or one that cannot be made, such as {[]: 1}
                    continue
                # JSON knows no tuples.
                found[target.id] = (item.lineno, [*value] if isinstance(value, tuple) else value)
    return found
