"""Causes and effects: what tells of them in a text, which memory is the cause, and where links lead. Pure."""

from satchel.store.causality.clues import Lookback, clues_of
from satchel.store.causality.names import Earlier, best_cause

__all__ = ["Earlier", "Lookback", "best_cause", "clues_of"]
