"""Exact token accounting: what a memory costs in a form, framing included, and what is left."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from satchel.allocator.model import Candidate, Form, Scored
from satchel.allocator.rendering import Fence, block, fence, heading, heading_piece

Count = Callable[[str], int]

# The longest token of cl100k_base has 128 bytes, so a text has at least a token for each 128 bytes.
_LONGEST_TOKEN_BYTES = 128
# What the line break and the label of a block may save or add at most, against the stored count.
_FRAME_TOLERANCE = 8
_UUID_LENGTH = 36
_LEAST_UUID_FORM = 11


class BlockCounts:
    """Counts of blocks, kept for those memories that have a version. Least recently used ones go first."""

    def __init__(self, count: Count, capacity: int) -> None:
        self.count = count
        self._capacity = capacity
        self._kept: OrderedDict[object, int] = OrderedDict()

    def of(self, candidate: Candidate, form: Form) -> int:
        """Return the exact tokens of the block that shows the candidate in the form."""
        if not candidate.version:
            return self.count(block(candidate, form))
        part = candidate.excerpt if form is Form.EXCERPT else None
        key = (candidate.id, candidate.version, form, part)
        # Each step is atomic, so that worker threads and the event loop may share the counts.
        known = self._kept.pop(key, None)
        return self._keep(key, self.count(block(candidate, form)) if known is None else known)

    def of_piece(self, piece: str) -> int:
        """Return the exact tokens of a short piece of framing."""
        known = self._kept.get(piece)
        return self._keep(piece, self.count(piece)) if known is None else known

    def _keep(self, key: object, tokens: int) -> int:
        self._kept[key] = tokens
        if len(self._kept) > self._capacity:
            self._kept.popitem(last=False)
        return tokens


class Purse:
    """A budget being spent on memories; knows what the framing of each would add.

    The price of a memory is its block and, for the first one of its day, the heading; the year is charged
    with the first heading of a year. What is spent is exactly the tokens of the context as it would stand.
    """

    def __init__(self, budget: int, items: Sequence[Scored], counts: BlockCounts) -> None:
        self._counts = counts
        self.budget = budget
        self.with_wing = len({item.candidate.wing for item in items}) > 1
        self.fence: Fence = fence(_texts(items))
        self.spent = counts.of_piece(self.fence.opening) + counts.of_piece(self.fence.closing)
        self.empty_price = self.spent
        self._days: set[object] = set()
        self._years: set[int] = set()
        self._headings: dict[object, int] = {}

    @property
    def left(self) -> int:
        """Tokens that are not spent."""
        return self.budget - self.spent

    def tokens(self, candidate: Candidate, form: Form) -> int:
        """Return the tokens of the block alone."""
        return self._counts.of(candidate, form)

    def price(self, candidate: Candidate, form: Form) -> int:
        """Return what showing the candidate in this form would cost now, its heading included."""
        return self.tokens(candidate, form) + self.heading_price(candidate)

    def heading_price(self, candidate: Candidate) -> int:
        """Return what the heading of the candidate would cost now."""
        day = heading(candidate, with_wing=self.with_wing)
        if day is None or day in self._days:
            return 0
        return self._heading_tokens(candidate, with_year=day.day[0] not in self._years)

    def certainly_too_dear(self, candidate: Candidate, left: int) -> bool:
        """Tell, without counting, whether the whole text cannot fit in ``left`` tokens."""
        if candidate.verbatim_tokens is not None:
            return candidate.verbatim_tokens > left + _FRAME_TOLERANCE
        return len(candidate.text) > max(left, 1) * _LONGEST_TOKEN_BYTES

    def least_reference_price(self, candidate: Candidate) -> int:
        """Return tokens below which no form with a reference fits, without counting.

        ``[x] → T0:`` and the five groups of a UUID are at least 11 tokens; of other ids nothing is known.
        """
        return _LEAST_UUID_FORM if len(candidate.id) == _UUID_LENGTH else 1

    def is_hopeless(self, candidate: Candidate) -> bool:
        """Tell, without counting, whether the candidate cannot fit in any form."""
        left = self.left
        return left < self.least_reference_price(candidate) and self.certainly_too_dear(candidate, left)

    def spend(self, candidate: Candidate, form: Form) -> int:
        """Take the candidate; returns the tokens of its block.

        Raises:
            ValueError: it does not fit in what is left.
        """
        tokens = self.tokens(candidate, form)
        price = tokens + self.heading_price(candidate)
        if price > self.left:
            raise ValueError(f"The form costs {price} tokens, and {self.left} are left.")
        self.spent += price
        day = heading(candidate, with_wing=self.with_wing)
        if day is not None:
            self._days.add(day)
            self._years.add(day.day[0])
        return tokens

    def exchange(self, candidate: Candidate, old: Form, new: Form) -> int | None:
        """Show a taken candidate in another form; returns the tokens of the new block, `None` if too dear."""
        change = self.tokens(candidate, new) - self.tokens(candidate, old)
        if change > self.left:
            return None
        self.spent += change
        return self.tokens(candidate, new)

    def _heading_tokens(self, candidate: Candidate, *, with_year: bool) -> int:
        day = heading(candidate, with_wing=self.with_wing)
        if day is None:
            return 0
        key = (day, with_year)
        known = self._headings.get(key)
        if known is None:
            known = self._headings[key] = self._counts.of_piece(heading_piece(day, with_year=with_year))
        return known


def _texts(items: Sequence[Scored]) -> list[str]:
    """Return the texts that could close a fence; no other form of a memory holds an angle bracket."""
    return [item.candidate.text for item in items if "<" in item.candidate.text]
