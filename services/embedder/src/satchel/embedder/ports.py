"""What the engine needs from the outside: a tokenizer and a model."""

from collections.abc import Sequence
from typing import Protocol

from satchel.embedder.model import Batch, Embedded, Encoding, Frame, Role, TokenKinds


class Tokenizer(Protocol):
    """Texts to token ids. Synchronous; several threads may call `encode` and `frame` at the same time.

    The engine reads short texts in its event loop while a thread of its own reads long ones.
    """

    @property
    def pad_id(self) -> int:
        """Id that fills the rows of a batch."""
        ...

    @property
    def kinds(self) -> TokenKinds:
        """What each id is."""
        ...

    def frame(self, role: Role) -> Frame:
        """Return what stands before and after each passage of this role."""
        ...

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Read whole texts, without special tokens, prefix, padding or truncation."""
        ...


class Session(Protocol):
    """Token ids to unit vectors. May be called again before an earlier call has ended."""

    @property
    def has_token_states(self) -> bool:
        """Whether the model tells the states of tokens, without which they have no codes."""
        ...

    async def embed(self, batch: Batch) -> Embedded:
        """Return (batch, dimension), each row of unit norm, and the codes of the coded tokens in order."""
        ...

    async def rest(self) -> None:
        """Give back memory that only running needs: nothing has waited for a while."""
        ...
