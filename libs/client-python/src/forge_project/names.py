"""The functions that a file of Python offers, without running any of it."""

import ast
from collections.abc import Iterator

from forge_project.refusal import RefusalError, describe_raised


def function_names(path: str) -> list[str]:
    """
    What is bound at a module's top level and may be called by a workflow, sorted; no classes, and nothing that begins with an underscore. Raises RefusalError
    `load` for what is no Python.
    """
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RefusalError("load", describe_raised(error)) from error
    return sorted({name for name in _bound(tree.body) if not name.startswith("_")})


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield statement.name
        elif isinstance(statement, ast.Assign) and _may_be_callable(statement.value):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.ImportFrom) and statement.module not in _NO_FUNCTIONS:
            yield from (alias.asname or alias.name for alias in statement.names if alias.name != "*" and alias.name.islower())
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            yield from _bound(_blocks(statement))


# What nearly every file imports for itself.
_NO_FUNCTIONS = {"__future__", "typing", "typing_extensions", "dataclasses", "datetime", "pathlib", "collections", "collections.abc"}


def _may_be_callable(value: ast.expr) -> bool:
    """A lambda, a partial, another name; no literal."""
    return isinstance(value, (ast.Lambda, ast.Call, ast.Name, ast.Attribute))


def _blocks(statement: ast.stmt) -> list[ast.stmt]:
    blocks: list[ast.stmt] = [*getattr(statement, "body", []), *getattr(statement, "orelse", []), *getattr(statement, "finalbody", [])]
    for handler in getattr(statement, "handlers", []):
        blocks += handler.body
    return blocks
