"""A scope as SQL conditions over ``memories m``."""

from dataclasses import dataclass, field

from satchel.store.scope import Scope


@dataclass(slots=True)
class Conditions:
    """Conditions joined by AND, and their parameters in order."""

    terms: list[str] = field(default_factory=list)
    parameters: list[object] = field(default_factory=list)

    def add(self, term: str, *parameters: object) -> None:
        """Add a condition whose question marks stand for ``parameters``."""
        self.terms.append(term)
        self.parameters += parameters

    def add_any(self, column: str, values: tuple[object, ...]) -> None:
        """Add that ``column`` is one of ``values``; nothing for none."""
        if len(values) == 1:
            self.add(f"{column} = ?", values[0])
        elif values:
            self.add(f"{column} IN ({', '.join('?' * len(values))})", *values)

    @property
    def sql(self) -> str:
        """The conditions as they follow WHERE."""
        return " AND ".join(self.terms) or "1"


def conditions(scope: Scope) -> Conditions:
    """Return what a memory must meet to be in the scope."""
    found = Conditions()
    found.add_any("m.project", (scope.project,) if scope.project else ())
    found.add_any("m.state", tuple(int(state) for state in scope.states))
    found.add_any("m.wing", scope.wings)
    found.add_any("m.room", scope.rooms)
    found.add_any("m.type", tuple(int(kind) for kind in scope.types))
    found.add_any("m.session_id", scope.session_ids)
    for tag in scope.tags:
        found.add("EXISTS (SELECT 1 FROM memory_tags t WHERE t.tag = ? AND t.memory = m.key)", tag)
    if scope.since is not None:
        found.add("m.effective_at >= ?", scope.since)
    if scope.until is not None:
        found.add("m.effective_at < ?", scope.until)
    return found
