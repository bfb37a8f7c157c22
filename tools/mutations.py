"""Mutants of Python source: small changes to its syntax tree, each of which a test should notice.

Not mutated are things that no run could show or no test should fix: annotations and type aliases, docstrings,
assertions, options of dataclasses and caches, and prose (texts with a blank in them, and f-strings).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_COMPARE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_SIGNS: Final[dict[type[ast.AST], str]] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*",
    ast.FloorDiv: "//", ast.Div: "/", ast.Mod: "%", ast.Pow: "**", ast.BitOr: "|", ast.BitAnd: "&",
    ast.LShift: "<<", ast.RShift: ">>", ast.And: "and", ast.Or: "or",
}  # fmt: skip
_TYPES: Final = ("Literal", "Callable", "Mapping", "Sequence", "tuple", "list", "dict", "type", "Commands")
_QUIET_DECORATORS: Final = ("dataclass", "lru_cache", "cache")


@dataclass(frozen=True)
class Mutant:
    """One change: its place, its effect, and the lines whose execution selects the tests."""

    path: str
    number: int
    """Its number among the file's mutants, from 0."""
    line: int
    statement: int
    """First line of its statement."""
    scope: str
    """Its function, dotted; empty where it takes effect when the module is imported."""
    what: str
    text: str
    """The source line, without its indentation."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.scope or '(module)'}: {self.what}  |  {self.text}"


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Return all mutants of a file."""
    walk = _Walk(path, source)
    walk.visit(ast.parse(source))
    return walk.found


def mutated(source: str, number: int) -> ast.Module:
    """Return the file's tree with one of its mutants put in."""
    walk = _Walk("", source, number)
    tree = walk.visit(ast.parse(source))
    assert isinstance(tree, ast.Module)
    return ast.fix_missing_locations(tree)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Walk(ast.NodeTransformer):
    """Numbers every place that can be changed, in the order of the tree, and changes the wanted one."""

    def __init__(self, path: str, source: str, wanted: int | None = None) -> None:
        self.path = path
        self.lines = source.splitlines()
        self.wanted = wanted
        self.found: list[Mutant] = []
        self.scope: list[str] = []
        self.named: list[str] = []
        self.statement = 1

    def here(self, node: ast.AST, what: str) -> bool:
        """Register a mutant; return whether it is the one to put in."""
        line: int = getattr(node, "lineno", self.statement)
        scope = ".".join(self.named) if self.scope else ""
        number = len(self.found)
        self.found.append(Mutant(self.path, number, line, self.statement, scope, what, self.lines[line - 1].strip()))
        return number == self.wanted

    def visit(self, node: ast.AST) -> Any:
        """Remember the statement, then visit as usual."""
        if isinstance(node, ast.stmt):
            before, self.statement = self.statement, node.lineno
            try:
                return super().visit(node)
            finally:
                self.statement = before
        return super().visit(node)

    # A function's body takes effect when it is called, all else when the module is imported.

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [self._decorator(decorator) for decorator in node.decorator_list]
        self._defaults(node.args)
        self.named.append(node.name)
        self.scope.append(node.name)
        node.body = self._body(node.body)
        self.scope.pop()
        self.named.pop()
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._defaults(node.args)
        self.named.append("<lambda>")
        self.scope.append("<lambda>")
        node.body = self.visit(node.body)
        self.scope.pop()
        self.named.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.named.append(node.name)
        node.body = self._body(node.body)
        self.named.pop()
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = self._body(node.body)
        return node

    def _decorator(self, node: ast.expr) -> ast.expr:
        called = node.func if isinstance(node, ast.Call) else node
        quiet = isinstance(called, ast.Name) and called.id in _QUIET_DECORATORS
        return node if quiet else self.visit(node)

    def _defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(default) for default in args.defaults]
        args.kw_defaults = [default and self.visit(default) for default in args.kw_defaults]

    def _body(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [statement if _is_docstring(statement) else self.visit(statement) for statement in body]

    # Nodes that are never mutated.

    def visit_Import(self, node: ast.Import) -> ast.AST:
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        base = node.value.value if isinstance(node.value, ast.Subscript) else None
        if not self.scope and isinstance(base, ast.Name) and base.id in _TYPES:
            return node
        node.targets = [self.visit(target) for target in node.targets]
        node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "field":
            return node
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    # Nodes that are mutated.

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for place, operator in enumerate(node.ops):
            other = _COMPARE[type(operator)]
            if self.here(node, f"{_SIGNS[type(operator)]} -> {_SIGNS[other]}"):
                node.ops[place] = other()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        other: type[ast.boolop] = ast.Or if isinstance(node.op, ast.And) else ast.And
        if self.here(node, f"{_SIGNS[type(node.op)]} -> {_SIGNS[other]}"):
            node.op = other()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        other = _ARITHMETIC.get(type(node.op))
        if other is not None and self.here(node, f"{_SIGNS[type(node.op)]} -> {_SIGNS[other]}"):
            node.op = other()
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        node.value = self.visit(node.value)
        other = _ARITHMETIC.get(type(node.op))
        if other is not None and self.here(node, f"{_SIGNS[type(node.op)]}= -> {_SIGNS[other]}="):
            node.op = other()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self.here(node, "not left out"):
            return node.operand
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        said = node.value
        changed: Any = None
        if isinstance(said, bool):
            changed = not said
        elif isinstance(said, int | float):
            changed = said + 1
        elif isinstance(said, str) and not any(char.isspace() for char in said):
            changed = f"{said}~"
        if changed is not None and self.here(node, f"{said!r} -> {changed!r}"):
            return ast.copy_location(ast.Constant(changed), node)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._condition(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._condition(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._condition(node)

    def _condition(self, node: Any) -> ast.AST:
        if isinstance(node, ast.IfExp):
            node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
            node.test = self.visit(node.test)
        else:
            node.test = self.visit(node.test)
            node.body, node.orelse = self._body(node.body), self._body(node.orelse)
        # A single comparison or negation is inverted as a whole.
        if not isinstance(node.test, ast.Compare | ast.UnaryOp) and self.here(node.test, "condition turned round"):
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        turned: ast.AST = node
        return turned

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        for place, condition in enumerate(node.ifs):
            if self.here(condition, "filter left out"):
                node.ifs[place] = ast.copy_location(ast.Constant(True), condition)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is None:
            return node
        node.value = self.visit(node.value)
        if not isinstance(node.value, ast.Constant) and self.here(node, "returns None"):
            node.value = ast.copy_location(ast.Constant(None), node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        node.value = self.visit(node.value)
        if isinstance(node.value, ast.Call) and self.here(node, "call left out"):
            return ast.copy_location(ast.Pass(), node)
        return node

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return ast.copy_location(ast.Continue(), node) if self.here(node, "break -> continue") else node

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return ast.copy_location(ast.Break(), node) if self.here(node, "continue -> break") else node
