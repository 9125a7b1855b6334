"""How identities are kept and shown."""

from collections.abc import Callable
from dataclasses import dataclass

from satchel.store.errors import IdentitiesDisabled
from satchel.store.identity.prompts import Bar, Language, Rendering


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How identities are kept; `satchel.store.settings.SoulSettings` says what each rule is.

    ``count_tokens`` counts the tokens of a text.
    """

    enabled: bool
    bar: Bar
    budget: int
    drift_threshold: float
    drift_window: int
    checks_after_capture: bool
    reinforces_after_swap: bool
    evolves: bool
    versions_kept: int
    count_tokens: Callable[[str], int]

    def check_enabled(self) -> None:
        """Return if identities are kept.

        Raises:
            IdentitiesDisabled: they are not.
        """
        if not self.enabled:
            raise IdentitiesDisabled

    def rendering(self, language: Language, budget: int) -> Rendering:
        """Return how to show an identity within a budget; 0 for the default one."""
        return Rendering(
            language=language,
            bar=self.bar,
            budget=budget or self.budget,
            count_tokens=self.count_tokens,
        )
