"""The statements of Python as nodes, tokens and uses of a program graph."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from metrics.graph_builder import COMPUTED_FROM, RETURNS_TO, Builder, Held, Uses
from metrics.graph_expressions import Expressions
from metrics.graph_scopes import parameters


class Statements(Expressions):
    """Walks a whole program."""

    def built(self, tree: ast.Module) -> Builder:
        """All nodes and edges of a program."""
        self.builder.enter(tree)
        self.visit(tree)
        self.builder.add_subtokens()
        return self.builder

    def _Module(self, node: ast.Module) -> None:
        for statement in node.body:
            self.visit(statement)

    def block(self, statements: Sequence[ast.stmt], each: Callable[[], None] = lambda: None) -> None:
        self.token("INDENT")
        for place, statement in enumerate(statements):
            if place:
                self.token("NL")
            each()
            self.visit(statement)
        self.builder.chain([self.number(statement) for statement in statements])
        self.token("DEDENT")

    def _If(self, node: ast.If) -> None:
        builder = self.builder
        self.token("if")
        self.visit(node.test)
        before = builder.uses.copy()
        self.block(node.body)
        after, builder.uses = builder.uses, before
        self.token("else")
        self.block(node.orelse)
        builder.uses = builder.uses.joined(after)

    def _While(self, node: ast.While) -> None:
        self.token("while")
        self.builder.start_loop()
        self.visit(node.test)
        self.loop_body(node)

    def _For(self, node: ast.For | ast.AsyncFor) -> None:
        target: Held = []
        if isinstance(node, ast.AsyncFor):
            self.token("async")
        self.token("for")
        with self.builder.holding(target):
            self.visit(node.target)
        self.builder.edge(self.number(node.target), self.number(node.iter), COMPUTED_FROM)
        self.token("in")
        self.visit(node.iter)
        self.builder.release(target)
        self.builder.start_loop()
        self.loop_body(node)

    _AsyncFor = _For

    def loop_body(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        builder = self.builder
        before = builder.uses.copy()
        self.block(node.body)
        builder.end_loop()
        builder.uses = builder.uses.joined(before)
        self.token("else")
        self.block(node.orelse)

    def _With(self, node: ast.With | ast.AsyncWith) -> None:
        if isinstance(node, ast.AsyncWith):
            self.token("async")
        self.token("with")
        self.separated(node.items)
        self.block(node.body)

    _AsyncWith = _With

    def _withitem(self, node: ast.withitem) -> None:
        self.visit(node.context_expr)
        if node.optional_vars:
            self.token("as")
            self.visit(node.optional_vars)

    def _Try(self, node: ast.Try) -> None:
        builder = self.builder
        self.token("try")
        before = builder.uses.copy()
        self.block(node.body)
        ends = [builder.uses]
        for handler in node.handlers:
            builder.uses = before.joined(ends[0])
            self.visit(handler)
            ends.append(builder.uses)
        builder.chain([self.number(handler) for handler in node.handlers])
        builder.uses = ends[0]
        if node.orelse:
            self.token("else")
            self.block(node.orelse)
        builder.uses = builder.uses.joined(*ends[1:])
        if node.finalbody:
            self.token("finally")
            self.block(node.finalbody)

    _TryStar = _Try

    def _ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.token("except")
        if node.type:
            self.visit(node.type)
        if node.name:
            self.token("as")
            self.name(node.name)
        self.block(node.body)

    # Definitions

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        builder = self.builder
        for decorator in node.decorator_list:
            self.token("@")
            self.visit(decorator)
        if isinstance(node, ast.AsyncFunctionDef):
            self.token("async")
        self.token("def")
        self.name(node.name)
        outer, self.function = self.function, self.number(node)
        builder.enter(node)
        self.token("(")
        self.visit(node.args)
        self.token(")")
        if node.returns:
            self.token("->")
            self.visit(node.returns)
        before = builder.uses.copy()
        self.block(node.body)
        builder.uses = builder.uses.joined(before)
        builder.leave()
        self.function = outer

    _AsyncFunctionDef = _FunctionDef

    def _Lambda(self, node: ast.Lambda) -> None:
        self.builder.enter(node)
        outer, self.function = self.function, self.number(node)
        self.token("lambda")
        self.visit(node.args)
        self.token(":")
        self.visit(node.body)
        self.function = outer
        self.builder.leave()

    def _arguments(self, node: ast.arguments) -> None:
        plain = [*node.posonlyargs, *node.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults)) + list(node.defaults)
        for parameter, default in zip(plain, defaults, strict=True):
            self.parameter(parameter, default)
        if node.vararg:
            self.token("*")
            self.parameter(node.vararg, None)
        for parameter, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            self.parameter(parameter, default)
        if node.kwarg:
            self.token("**")
            self.parameter(node.kwarg, None)
        self.builder.chain([self.number(parameter) for parameter in parameters(node)])

    def parameter(self, node: ast.arg, default: ast.expr | None) -> None:
        self.visit(node)
        if default:
            self.visit(default)
            self.token("=")
        self.token(",")

    def _arg(self, node: ast.arg) -> None:
        self.name(node.arg)
        if node.annotation:
            self.token(":")
            self.visit(node.annotation)

    def _ClassDef(self, node: ast.ClassDef) -> None:
        builder = self.builder
        for decorator in node.decorator_list:
            self.token("@")
            self.visit(decorator)
        self.token("class")
        self.name(node.name)
        builder.enter(node)
        self.token("(")
        self.separated(node.bases)
        self.token(")")
        before = builder.uses

        def start() -> None:
            builder.uses = before.copy()

        self.block(node.body, start)
        builder.leave()

    # Simple statements

    def _Assign(self, node: ast.Assign) -> None:
        targets: Held = []
        with self.builder.holding(targets):
            for target in node.targets:
                self.visit(target)
                self.token("=")
                if not isinstance(target, ast.Attribute):
                    self.builder.edge(self.number(target), self.number(node.value), COMPUTED_FROM)
        self.visit(node.value)
        self.builder.release(targets)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.target)
        self.visit(node.op)
        self.token("=")
        self.builder.edge(self.number(node.target), self.number(node.value), COMPUTED_FROM)
        self.visit(node.value)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        self.token(":")
        self.visit(node.annotation)
        if node.value:
            self.token("=")
            self.builder.edge(self.number(node.target), self.number(node.value), COMPUTED_FROM)
            self.visit(node.value)

    def _Delete(self, node: ast.Delete) -> None:
        self.token("del")
        self.separated(node.targets)

    def _Return(self, node: ast.Return) -> None:
        self.token("return")
        if node.value:
            self.visit(node.value)
        self.gives(node)
        self.builder.uses = Uses()

    def gives(self, node: ast.AST) -> None:
        target = self.function if self.function >= 0 else self.builder.node("None", "None")
        self.builder.edge(self.number(node), target, RETURNS_TO)

    def _Raise(self, node: ast.Raise) -> None:
        self.token("raise")
        if node.exc:
            self.visit(node.exc)
        if node.cause:
            self.token("from")
            self.visit(node.cause)
        self.gives(node)

    def _Yield(self, node: ast.Yield) -> None:
        self.token("yield")
        if node.value:
            self.visit(node.value)
        self.gives(node)

    def _YieldFrom(self, node: ast.YieldFrom) -> None:
        self.token("yield")
        self.token("from")
        self.visit(node.value)
        self.gives(node)

    def _Break(self, node: ast.Break) -> None:
        self.token("break")
        self.builder.uses = Uses()

    def _Continue(self, node: ast.Continue) -> None:
        self.token("continue")
        self.builder.uses = Uses()

    def _Assert(self, node: ast.Assert) -> None:
        self.token("assert")
        self.visit(node.test)
        if node.msg:
            self.token(",")
            self.visit(node.msg)

    def _Global(self, node: ast.Global) -> None:
        self.token("global")
        for name in node.names:
            self.name(name)
            self.token(",")

    def _Nonlocal(self, node: ast.Nonlocal) -> None:
        self.token("nonlocal")
        for name in node.names:
            self.name(name)
            self.token(",")

    def _Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.visit(alias)

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.visit(alias)

    def _alias(self, node: ast.alias) -> None:
        """A node without tokens, as in the original."""
