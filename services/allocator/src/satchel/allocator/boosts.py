"""What raises a memory beside the words and the meaning that it shares with the question. Pure.

Every boost is in the units of the fused score, of which a *spread* is the standard deviation of its part by
meaning, so that the same weights hold for every model and store. What the memories do not have (sessions,
speakers, times, token codes) boosts nothing. The weights were chosen by measuring (docs/recall.md).
"""

from dataclasses import dataclass

import numpy as np

from satchel.allocator.cues import are_questions, asks_when, tell_time
from satchel.allocator.evidence import Evidence, Located
from satchel.allocator.late_interaction import codes_by_memory, maxsim
from satchel.allocator.model import Floats
from satchel.allocator.nearness import Nearness
from satchel.allocator.neighbors import lent, likeness, line_up, numbered
from satchel.allocator.sessions import support
from satchel.allocator.speakers import named_speakers
from satchel.allocator.tuning import BoostWeights, Tuning


@dataclass(frozen=True, slots=True)
class Boosts:
    """What each memory gains or loses, as columns; their sum is what the fused score changes by."""

    late: Floats
    neighbors: Floats
    session: Floats
    speaker: Floats
    time: Floats
    question: Floats

    def columns(self) -> tuple[Floats, ...]:
        """Return all in the order of `Signals`."""
        return (self.late, self.neighbors, self.session, self.speaker, self.time, self.question)

    def total(self) -> Floats:
        """Return the sum of all."""
        total: Floats = np.sum(self.columns(), axis=0, dtype=np.float64)
        return total


@dataclass(frozen=True, slots=True)
class Standing:
    """How memories stand before anything raises them; ``spread`` is the unit of the weights."""

    fused: Floats
    spread: float
    near: Nearness


def boosts(standing: Standing, located: Located, evidence: Evidence, tuning: Tuning) -> Boosts:
    """Return what memories gain beyond their fused scores."""
    weights, nothing = tuning.boosts, np.zeros(len(standing.fused))
    neighbors, session = _from_sessions(standing, located, tuning)
    asked, unit = evidence.question, standing.spread
    return Boosts(
        late=_late(standing, located, evidence, weights),
        neighbors=neighbors,
        session=session,
        speaker=unit * weights.speaker * named_speakers(asked, located.texts),
        time=unit * weights.time * tell_time(located.texts) if asks_when(asked) else nothing,
        question=-unit * weights.question * are_questions(located.texts),
    )


def _from_sessions(standing: Standing, located: Located, tuning: Tuning) -> tuple[Floats, Floats]:
    """Return what neighbours lend and what sessions support, as far as sessions are talks."""
    fused, near, nothing = standing.fused, standing.near, np.zeros(len(standing.fused))
    if not tuning.neighbors or not any(located.sessions):
        return nothing, nothing
    line = line_up(located.sessions, located.orders)
    like = likeness(line, near.rows, near.row)
    own = (fused - fused.mean()) / standing.spread
    found = like * support(own, numbered(located.sessions)) + (1 - like) * own
    supported = tuning.boosts.session * standing.spread * (found - found.mean())
    return like * lent(fused, line, tuning.boosts.shares), supported


def _late(standing: Standing, located: Located, evidence: Evidence, weights: BoostWeights) -> Floats:
    """Compare token by token: most of the fused score gives way to it where there are token codes."""
    fused, nothing = standing.fused, np.zeros(len(standing.fused))
    if evidence.query is None or not len(evidence.query_codes) or not weights.late:
        return nothing
    if located.codes.shape[1] != evidence.query_codes.shape[1]:
        return nothing  # of another model than the question's, while one takes the other's place
    codes, counts = codes_by_memory(located.codes, located.code_counts, located.owners, len(fused))
    found = maxsim(evidence.query_codes, codes, counts, dimension=len(evidence.query))
    gained = standing.spread * weights.late * found - (1 - weights.fused_share) * (fused - fused.mean())
    return np.where(np.isnan(found), nothing, gained)
