"""Where the relevance below which candidates are dropped lies."""

import numpy as np

from satchel.allocator.model import Floats, ThresholdMethod

_FEW = 3
_THRESHOLD_OF_FEW = 0.3
_QUARTILE = 25
KEPT_AT_LEAST = 5


def threshold(scores: Floats, method: ThresholdMethod, *, floor: float, ceiling: float) -> float:
    """Return the threshold for ``scores`` in [0, 1], clamped to ``floor``, then to ``ceiling``.

    ``iqr`` is the 25th percentile with linear interpolation; ``elbow`` the score just below the first gap
    above mean plus one population standard deviation of the gaps, else the lowest; ``mean_stddev`` mean less
    one population standard deviation. Fewer than 3 scores give 0.3. ``off`` gives 0.

    Source: the published description of Context Budget Allocation.
    """
    if method is ThresholdMethod.OFF:
        return 0.0
    if len(scores) < _FEW:
        return _clamp(_THRESHOLD_OF_FEW, floor, ceiling)
    if method is ThresholdMethod.IQR:
        found = float(np.percentile(scores, _QUARTILE))
    elif method is ThresholdMethod.ELBOW:
        found = _elbow(scores)
    else:
        found = float(scores.mean() - scores.std())
    return _clamp(found, floor, ceiling)


def survivors(scores: Floats, limit: float, always_kept: int = 0) -> int:
    """Return how many of ``scores``, sorted down, stay: those at or above ``limit``.

    At least the best ``always_kept`` do, and the best five if none would.
    """
    reaching = int(np.count_nonzero(scores >= limit))
    return max(reaching, min(always_kept, len(scores))) or min(KEPT_AT_LEAST, len(scores))


def _elbow(scores: Floats) -> float:
    down = np.sort(scores)[::-1]
    gaps = down[:-1] - down[1:]
    large = np.flatnonzero(gaps > gaps.mean() + gaps.std())
    return float(down[large[0] + 1]) if len(large) else float(down[-1])


def _clamp(value: float, floor: float, ceiling: float) -> float:
    return min(max(value, floor), ceiling)
