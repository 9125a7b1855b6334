"""Strategies by name."""

from satchel.allocator.model import StrategyName
from satchel.allocator.selection.cba import Cba
from satchel.allocator.selection.knapsack import Knapsack
from satchel.allocator.selection.strategy import Strategy
from satchel.allocator.selection.top import Top


def strategy(name: StrategyName) -> Strategy:
    """Return the strategy of this name."""
    match name:
        case StrategyName.CBA:
            return Cba()
        case StrategyName.KNAPSACK:
            return Knapsack()
        case StrategyName.TOP:
            return Top()
