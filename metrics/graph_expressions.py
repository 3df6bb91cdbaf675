"""The expressions of Python as nodes, tokens and uses of a program graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from metrics.graph_builder import CHILD, Builder, Held

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.Invert: "~", ast.UAdd: "+", ast.USub: "-",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

# A word is a token, @field a part if there is one, *field parts with a comma after each.
_SHAPES: dict[type[ast.AST], str] = {
    ast.Expr: "@value",
    ast.Pass: "pass",
    ast.Await: "await @value",
    ast.BinOp: "@left @op @right",
    ast.UnaryOp: "@op @operand",
    ast.Starred: "* @value",
    ast.List: "[ *elts ]",
    ast.Tuple: "( *elts )",
    ast.Set: "{ *elts }",
    ast.NamedExpr: "@target := @value",
}


class Expressions:
    """Walks expressions in the order of the source; a method is called after the node it takes."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.function = -1
        self._mixed: dict[int, Comprehension] = {}

    def visit(self, node: ast.AST) -> None:
        """Makes the node below its parent, then everything below it. Operators are tokens only."""
        kind = type(node)
        if kind in _OPERATORS:
            self.token(_OPERATORS[kind])
            return
        with self.below(self.number(node)):
            if kind in _SHAPES:
                self.follow(node, _SHAPES[kind])
            else:
                getattr(self, f"_{kind.__name__}", self.anything)(node)

    @contextmanager
    def below(self, number: int) -> Iterator[None]:
        """Adds the node to its parent and makes it the parent meanwhile."""
        builder, parent = self.builder, self.builder.parent
        if parent >= 0:
            builder.edge(parent, number, CHILD)
        builder.parent = number
        yield
        builder.parent = parent

    def number(self, node: ast.AST) -> int:
        """The number of a syntax node's node; constants have the names they had before Python 3.8."""
        label = _constant_name(node.value) if isinstance(node, ast.Constant) else type(node).__name__
        return self.builder.node(id(node), label)

    def token(self, text: str) -> int:
        return self.builder.token(text)

    def name(self, text: str) -> None:
        """A token that is a use of a name."""
        self.builder.use_name(self.token(text), text)

    def separated(self, nodes: Sequence[ast.AST]) -> None:
        """Nodes with commas between them."""
        for place, node in enumerate(nodes):
            if place:
                self.token(",")
            self.visit(node)

    def follow(self, node: ast.AST, shape: str) -> None:
        for part in shape.split():
            if part[0] == "@":
                self.visit(getattr(node, part[1:]))
            elif part[0] == "*" and part[1:]:
                for child in getattr(node, part[1:]):
                    self.visit(child)
                    self.token(",")
            else:
                self.token(part)

    def anything(self, node: ast.AST) -> None:
        """Nodes without tokens of their own, and newer syntax."""
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context):
                self.visit(child)

    def _Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, str):
            self.token(f'"{value}"')
        elif isinstance(value, bytes):
            self.token(repr(value))
        else:
            self.token("..." if value is ... else str(value))

    def _Name(self, node: ast.Name) -> None:
        self.name(node.id)

    def _Attribute(self, node: ast.Attribute) -> None:
        # In the target of an assignment, what stands before the dot takes no part in the flow of data
        with self.builder.holding([]) if isinstance(node.ctx, ast.Store) else nullcontext():
            self.visit(node.value)
        self.token(".")
        self.token(node.attr)
        value = node.value
        if isinstance(value, ast.Name):
            text = f"{value.id}.{node.attr}"
        elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            text = f"{value.value.id}.{value.attr}.{node.attr}"
        else:
            return
        self.builder.use(self.number(node), (-1, text))

    def _Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        self.token("(")
        self.separated([*node.args, *node.keywords])
        self.token(")")

    def _keyword(self, node: ast.keyword) -> None:
        if node.arg is None:
            self.token("**")
        else:
            self.token(node.arg)
            self.token("=")
        self.visit(node.value)

    def _IfExp(self, node: ast.IfExp) -> None:
        builder = self.builder
        body: Held = []
        with builder.holding(body):
            self.visit(node.body)
        self.token("if")
        self.visit(node.test)
        before = builder.uses.copy()
        builder.release(body)
        self.token("else")
        after, builder.uses = builder.uses, before
        self.visit(node.orelse)
        builder.uses = builder.uses.joined(after)

    def _BoolOp(self, node: ast.BoolOp) -> None:
        for place, value in enumerate(node.values):
            if place:
                self.visit(node.op)
            self.visit(value)

    def _Compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        for operator, right in zip(node.ops, node.comparators, strict=True):
            self.visit(operator)
            self.visit(right)

    def _Dict(self, node: ast.Dict) -> None:
        self.token("{")
        for place, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if place:
                self.token(",")
            if key:
                self.visit(key)
                self.token(":")
            else:
                self.token("**")
            self.visit(value)
        self.token("}")

    def _Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        self.token("[")
        self.index(node.slice)
        self.token("]")

    def index(self, node: ast.expr) -> None:
        """What stands in the brackets, below the Index or ExtSlice that it had around it before Python 3.9."""
        if isinstance(node, ast.Slice):
            self.visit(node)
            return
        parts = node.elts if isinstance(node, ast.Tuple) else []
        extended = any(isinstance(part, ast.Slice) for part in parts)
        with self.below(self.builder.node(("index", id(node)), "ExtSlice" if extended else "Index")):
            if not extended:
                self.visit(node)
            for place, part in enumerate(parts if extended else ()):
                if place:
                    self.token(",")
                self.index(part)

    def _Slice(self, node: ast.Slice) -> None:
        self.token("[")
        if node.lower:
            self.visit(node.lower)
        self.token(":")
        if node.upper:
            self.visit(node.upper)
        if node.step:
            self.token(":")
            self.visit(node.step)
        self.token("]")

    # Comprehensions

    def _ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        brackets = {"ListComp": "[]", "SetComp": "{}"}.get(type(node).__name__, "()")
        self.enter_comprehension(node)
        self.token(brackets[0])
        self.visit(node.elt)
        self.generators(node.generators)
        self.token(brackets[1])
        self.builder.leave()

    _SetComp = _GeneratorExp = _ListComp

    def _DictComp(self, node: ast.DictComp) -> None:
        self.enter_comprehension(node)
        self.token("{")
        self.visit(node.key)
        self.token(":")
        self.visit(node.value)
        self.generators(node.generators)
        self.token("}")
        self.builder.leave()

    def enter_comprehension(self, node: Comprehension) -> None:
        """Enters a scope; those of `[... for x in [...]]` on one line are mixed up, as in the study.

        The study looks a scope up by kind and line in Python's symbol table, which holds the one of the first
        iterable first. So the outer comprehension knows the names of the inner one and the other way round.
        """
        if id(node) not in self._mixed:
            inner = [
                below
                for below in ast.walk(node.generators[0].iter)
                if type(below) is type(node) and below.lineno == node.lineno
            ]
            tables = [*inner, node]
            self._mixed.update(zip(map(id, [node, *inner]), tables, strict=True))
        self.builder.enter(self._mixed[id(node)])

    def generators(self, nodes: Sequence[ast.comprehension]) -> None:
        for place, node in enumerate(nodes):
            with self.below(self.number(node)):
                self.generator(node, is_first=not place)

    def generator(self, node: ast.comprehension, *, is_first: bool) -> None:
        """`for ... in ... if ...`. Data reaches the target last; the first iterable belongs around the scope."""
        builder = self.builder
        target: Held = []
        if node.is_async:
            self.token("async")
        self.token("for")
        with builder.holding(target):
            self.visit(node.target)
        self.token("in")
        with builder.outside() if is_first else nullcontext():
            self.visit(node.iter)
        for condition in node.ifs:
            self.token("if")
            self.visit(condition)
        builder.release(target)

    def _JoinedStr(self, node: ast.JoinedStr) -> None:
        """Pythons differ in how many pieces of text they make, so empty ones are left out."""
        for part in node.values:
            if not isinstance(part, ast.Constant) or part.value:
                self.visit(part)


def _constant_name(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "NameConstant"
    names = {str: "Str", bytes: "Bytes", type(...): "Ellipsis"}
    return names.get(type(value), "Num")
