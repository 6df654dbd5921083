# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs as expressions over the symbols of a model."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cached_property, reduce
from math import ceil, lcm
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple
from typing import TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _stg
from .arguments import check_text
from .compiler import Canceller, Path, Progress, make_options
from .errors import Message
from .modules import Module
from .strategy import Strategy
from .tables import Table

Array = npt.NDArray[Any]
Value = Union[int, npt.ArrayLike]
Operand = Union["Expression", int]
_Result = TypeVar("_Result")

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_.$-]*)|(.))")
_SYMBOL = re.compile(r"[A-Za-z_][\w.$-]*(?![\w.$-]|\()")
"""A name that is not that of a function, in the canonical form."""
_FUNCTIONS = ("ceildiv", "min", "max", "hits")


class _Fraction(NamedTuple):
    """Numerators and denominators, of one point or of many; denominators are positive."""

    num: Any
    den: Any


class _Tree(NamedTuple):
    """An operator with operands, a symbol or a number."""

    kind: str
    operands: Tuple["_Tree", ...] = ()
    name: str = ""
    number: int = 0


def _fold(tree: _Tree, make: Callable[[_Tree, List[_Result]], _Result]) -> _Result:
    """What `make` makes of a tree and of what it has made of its operands. Sums of thousands of
    terms are as deep, which Python's own calls cannot be."""
    order, pending = [], [tree]
    while pending:
        order.append(pending.pop())
        pending.extend(order[-1].operands)
    results: List[_Result] = []
    for node in reversed(order):
        first = len(results) - len(node.operands)
        results[first:] = [make(node, results[first:])]
    return results[0]


class _Parser:
    """Reads the text of an expression in its canonical form."""

    def __init__(self, text: str):
        self.tokens: List[Tuple[str, str, str]] = _TOKEN.findall(text)
        self.next = 0

    def peek(self) -> str:
        return "".join(self.tokens[self.next]) if self.next < len(self.tokens) else ""

    def take(self) -> Tuple[str, str, str]:
        self.next += 1
        return self.tokens[self.next - 1]

    def sum(self) -> _Tree:
        tree = self.product()
        while self.peek() in ("+", "-"):
            kind = self.take()[2]
            tree = _Tree(kind, (tree, self.product()))
        return tree

    def product(self) -> _Tree:
        tree = self.factor()
        while self.peek() in ("*", "/"):
            kind = self.take()[2]
            tree = _Tree(kind, (tree, self.factor()))
        return tree

    def factor(self) -> _Tree:
        number, name, sign = self.take()
        if number:
            return _Tree("number", number=int(number))
        if sign == "-":
            return _Tree("-", (_Tree("number"), self.factor()))
        if name in _FUNCTIONS and self.peek() == "(":
            self.take()
            operands = [self.sum()]
            while self.peek() == ",":
                self.take()
                operands.append(self.sum())
            self.take()
            return _Tree(name, tuple(operands))
        if name:
            return _Tree("symbol", name=name)
        tree = self.sum()
        self.take()
        return tree


def _to_integer(value: _Fraction, what: str) -> Any:
    """Integers, exact."""
    if np.any(value.num % value.den != 0):
        raise ValueError(f"{what} is not an integer for these values")
    return value.num // value.den


def _with_common_denominator(left: _Fraction, right: _Fraction) -> Tuple[_Fraction, _Fraction]:
    if isinstance(left.den, int) and isinstance(right.den, int):
        den = lcm(left.den, right.den)
        return (_Fraction(left.num * (den // left.den), den),
                _Fraction(right.num * (den // right.den), den))
    den = left.den * right.den
    return _Fraction(left.num * right.den, den), _Fraction(right.num * left.den, den)


def _apply(kind: str, left: _Fraction, right: _Fraction) -> _Fraction:
    if kind == "+":
        left, right = _with_common_denominator(left, right)
        return _Fraction(left.num + right.num, left.den)
    if kind == "-":
        left, right = _with_common_denominator(left, right)
        return _Fraction(left.num - right.num, left.den)
    if kind == "*":
        return _Fraction(left.num * right.num, left.den * right.den)
    if kind == "/":
        if np.any(right.num == 0):
            raise ZeroDivisionError("division by zero")
        sign = np.sign(right.num) if isinstance(right.num, np.ndarray) else (
            1 if right.num > 0 else -1)
        return _Fraction(left.num * right.den * sign, left.den * right.num * sign)
    first, second = _to_integer(left, "an operand"), _to_integer(right, "an operand")
    if kind == "ceildiv":
        if np.any(second == 0):
            raise ZeroDivisionError("division by zero")
        return _Fraction(-(-first // second), 1)
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        of_arrays: Any = np.minimum if kind == "min" else np.maximum
        return _Fraction(of_arrays(first, second), 1)
    return _Fraction(min(first, second) if kind == "min" else max(first, second), 1)


def _count_hits(amount: int, buckets: int, chosen: int, draws: int) -> int:
    """What is expected of an amount in evenly filled buckets in those that any of the draws has
    taken, rounded to the nearest integer, and up from halves."""
    if buckets <= 0:
        raise ZeroDivisionError("no buckets to hit")
    if amount < 0:
        return -_count_hits(-amount, buckets, chosen, draws)
    if chosen <= 0 or draws <= 0:
        return 0
    # What is missed is then less than a half.
    if chosen >= buckets or chosen * draws >= buckets * (amount.bit_length() + 1):
        return amount
    missed = amount * Fraction(buckets - chosen, buckets) ** draws
    return amount - ceil(missed - Fraction(1, 2))


def _evaluate(tree: _Tree, values: Mapping[str, Any]) -> _Fraction:
    def make(node: _Tree, operands: List[_Fraction]) -> _Fraction:
        if node.kind == "number":
            return _Fraction(node.number, 1)
        if node.kind == "symbol":
            return _Fraction(values[node.name], 1)
        if node.kind == "hits":
            numbers = [_to_integer(operand, "an operand") for operand in operands]
            if not any(isinstance(number, np.ndarray) for number in numbers):
                return _Fraction(_count_hits(*numbers), 1)
            count: Any = np.frompyfunc(lambda *each: _count_hits(*map(int, each)), 4, 1)
            return _Fraction(count(*numbers), 1)
        return reduce(lambda left, right: _apply(node.kind, left, right), operands)

    return _fold(tree, make)


class _Bound(NamedTuple):
    """How large a numerator and a denominator are at most, and anything that is computed for
    them."""

    num: int
    den: int
    is_number: bool
    """Whether the denominator is one number, and that of `den`."""
    largest: int


def _bound_pair(kind: str, left: _Bound, right: _Bound) -> Tuple[int, int]:
    if kind in ("+", "-"):
        den = (lcm(left.den, right.den) if left.is_number and right.is_number
               else left.den * right.den)
        return left.num * (den // left.den) + right.num * (den // right.den), den
    if kind == "*":
        return left.num * right.num, left.den * right.den
    if kind == "/":
        return left.num * right.den, left.den * right.num
    return max(left.num, right.num), 1


def _bound(tree: _Tree, values: Mapping[str, int]) -> _Bound:
    """For values that are absolutely at most these."""
    def make(node: _Tree, parts: List[_Bound]) -> _Bound:
        if node.kind == "number":
            return _Bound(node.number, 1, True, node.number)
        if node.kind == "symbol":
            return _Bound(values[node.name], 1, True, values[node.name])
        bound = parts[0]
        for operand, part in zip(node.operands[1:], parts[1:]):
            num, den = _bound_pair(node.kind, bound, part)
            is_number = bound.is_number and part.is_number and (
                node.kind != "/" or operand.kind == "number")
            bound = _Bound(num, max(den, 1), is_number, max(bound.largest, part.largest, num, den))
        return bound

    return _fold(tree, make)


class Expression:
    """An exact expression over symbols, in its one canonical form: equal expressions have equal
    texts. It is a function of its symbols."""

    def __init__(self, text: str):
        """Reads an expression, such as "2*B*S*D/tp + ceildiv(V, 3)". Raises Error, and TypeError
        for what is no text."""
        if not isinstance(text, str):
            raise TypeError(f"an expression is made of a text, such as '2*B*S', not of {text!r}")
        check_text("text", text, "a text")
        self._text = _stg.simplify(text)

    @cached_property
    def _tree(self) -> _Tree:
        return _Parser(self._text).sum()

    @cached_property
    def symbols(self) -> Tuple[str, ...]:
        """The names of its symbols, sorted."""
        return tuple(sorted(set(_SYMBOL.findall(self._text))))

    def __call__(self, values: Optional[Mapping[str, Value]] = None, **more: Value) -> Any:
        """The value, exact: an integer if all values are integers, and an array if one is an array,
        with all of them broadcast against each other: of 64-bit numbers where all that is computed
        fits, else of numbers of Python. Values that the expression does not use are ignored.

        Raises KeyError where a symbol has no value, ValueError where a value or the result is not
        an integer, and ZeroDivisionError.
        """
        given: Dict[str, Any] = {**(values or {}), **more}
        for name in self.symbols:
            if name not in given:
                raise KeyError(f"the symbol {name} has no value; {self._text} has the symbols "
                               f"{', '.join(self.symbols)}")
        used = {name: _to_integers(name, given[name]) for name in self.symbols}
        arrays = [value for value in used.values() if isinstance(value, np.ndarray)]
        if not arrays:
            return _to_integer(_evaluate(self._tree, used), "the result")
        limits = {name: _get_limit(value) for name, value in used.items()}
        kind: Any = np.int64 if _bound(self._tree, limits).largest < 2**62 else object
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        used = {name: value.astype(kind) if isinstance(value, np.ndarray) else value
                for name, value in used.items()}
        result = np.asarray(_to_integer(_evaluate(self._tree, used), "the result"), dtype=kind)
        return np.broadcast_to(result, shape).copy() if result.shape != shape else result

    def substitute(self, **values: Union[Operand, str]) -> "Expression":
        """The expression with others, or their texts, in place of symbols. Raises TypeError for
        other values, and Error for texts that are no expressions."""
        texts: Dict[str, str] = {}
        for name, value in values.items():
            text = str(Expression(value)) if isinstance(value, str) else _to_text(value)
            if text is None:
                raise TypeError(f"{name}={value!r}: expected an expression, its text or an integer")
            texts[name] = text

        def replace(match: "re.Match[str]") -> str:
            return f"({texts[match.group()]})" if match.group() in texts else match.group()

        return Expression(_SYMBOL.sub(replace, self._text))

    def __add__(self, other: Operand) -> "Expression":
        return _combine(self, "+", other)

    def __radd__(self, other: Operand) -> "Expression":
        return _combine(other, "+", self)

    def __sub__(self, other: Operand) -> "Expression":
        return _combine(self, "-", other)

    def __rsub__(self, other: Operand) -> "Expression":
        return _combine(other, "-", self)

    def __mul__(self, other: Operand) -> "Expression":
        return _combine(self, "*", other)

    def __rmul__(self, other: Operand) -> "Expression":
        return _combine(other, "*", self)

    def __truediv__(self, other: Operand) -> "Expression":
        """Raises Error where the division is not exact."""
        return _combine(self, "/", other)

    @property
    def _number(self) -> Optional[int]:
        """The integer that it is, which it is equal to."""
        return int(self._text) if self._text.lstrip("-").isdigit() else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, np.integer)):
            return self._number == other
        return isinstance(other, Expression) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text if self._number is None else self._number)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Expression({self._text!r})"


def _to_text(operand: object) -> Optional[str]:
    """None of what is neither an expression nor an integer."""
    if isinstance(operand, Expression):
        return str(operand)
    if isinstance(operand, (int, np.integer)) and not isinstance(operand, bool):
        return str(int(operand))
    return None


def _combine(left: Operand, operator: str, right: Operand) -> Expression:
    texts = _to_text(left), _to_text(right)
    # Python then asks the other operand, and raises TypeError.
    if None in texts:
        return NotImplemented
    return Expression(f"({texts[0]}) {operator} ({texts[1]})")


def _to_integers(name: str, value: Any) -> Any:
    """An integer of Python, or an array of them or of 64-bit numbers."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    array = np.asarray(value)
    given = array.dtype
    if not isinstance(value, np.ndarray) and given.kind == "f":
        # Lists of integers that no type of NumPy holds, or of none.
        array = np.asarray(value, dtype=object)
    if array.dtype == np.uint64:
        array = array.astype(object)
    is_integer = array.dtype.kind in "iu" or array.dtype == object and all(
        isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in array.flat)
    if not is_integer:
        raise ValueError(f"the values of {name} are not integers, but {given}")
    if array.dtype == object:
        array = np.frompyfunc(int, 1, 1)(array)
    return array if isinstance(array, np.ndarray) and array.shape else int(array)


def _get_limit(value: Any) -> int:
    """How large an integer, or those of an array, are absolutely: as numbers of Python, since the
    smallest number of a type has no absolute value in it."""
    if not isinstance(value, np.ndarray):
        return abs(int(value))
    return max(abs(int(np.max(value))), abs(int(np.min(value)))) if value.size else 0


class Cost(NamedTuple):
    """A total of one rank."""

    quantity: str
    """"operations", "product_operations" (those of them in matrix products), "memory_traffic",
    "collective" or "state"."""
    phase: str
    """Empty for states."""
    kind: str
    """Of a collective its kind, of a state its category."""
    axes: str
    """Of a collective those of the mesh, joined by '+'."""
    expression: Expression
    """Operations, or bytes; of a collective the payloads."""


class Costs:
    """The totals of one rank as expressions."""

    def __init__(self, rows: Sequence[Cost], symbols: Mapping[str, int],
                 warnings: Sequence[Message] = ()):
        self.rows: Tuple[Cost, ...] = tuple(rows)
        """By quantity, phase, kind and axes."""
        self.symbols: Dict[str, int] = dict(symbols)
        """The values that the model and the strategy give to symbols. Where ranks differ, the
        coordinate of a rank along an axis is the symbol `AXIS_index`, here 0."""
        self.warnings: Tuple[Message, ...] = tuple(warnings)
        """What was said without being an error."""

    def _sum(self, wanted: Callable[[Cost], bool]) -> Expression:
        return Expression(" + ".join(f"({row.expression})" for row in self.rows if wanted(row))
                          or "0")

    @property
    def operations(self) -> Expression:
        """All operations of a rank."""
        return self._sum(lambda row: row.quantity == "operations")

    @property
    def product_operations(self) -> Expression:
        """Operations in matrix products."""
        return self._sum(lambda row: row.quantity == "product_operations")

    @property
    def memory_traffic(self) -> Expression:
        """Bytes that compute nodes read and write."""
        return self._sum(lambda row: row.quantity == "memory_traffic")

    def collective_bytes(self, axes: Optional[str] = None,
                         kind: Optional[str] = None) -> Expression:
        """Bytes of the payloads of all collectives, or of those of some axes or of a kind."""
        return self._sum(lambda row: row.quantity == "collective" and
                         axes in (None, row.axes) and kind in (None, row.kind))

    @property
    def states(self) -> Dict[str, Expression]:
        """Bytes that are there over the whole step, by category."""
        return {row.kind: row.expression for row in self.rows if row.quantity == "state"}

    def table(self) -> Table:
        """All rows as columns."""
        return Table.from_rows(self.rows, Cost._fields)


def costs(model: Union[Path, Module], strategy: Optional[Strategy] = None, *,
          text: Optional[str] = None, config: Optional[str] = None,
          program: Optional[str] = None, models: Sequence[Path] = (),
          progress: Optional[Progress] = None, canceller: Optional[Canceller] = None,
          **fields: Any) -> Costs:
    """Compiles a model under a strategy, of which the symbols of the model stay in the totals.
    Degrees are numbers. Every symbol needs a value, as for `compile`: `Costs.symbols` has it. There
    must be one pipeline stage, one micro-batch and one step. What arguments mean, and what is
    raised, is as for `compile`."""
    rows, symbols, messages = _stg.compute_costs(
        make_options(model, strategy, fields, text, config, program, models, canceller, progress))
    # The expressions come in their canonical form.
    return Costs([Cost(quantity, phase, kind, axes, _make(expression))
                  for quantity, phase, kind, axes, expression in rows], symbols,
                 list(map(Message._of_call, messages)))


def _make(text: str) -> Expression:
    expression = Expression.__new__(Expression)
    expression._text = text
    return expression
