"""Draws coverage against budget as an SVG that reads on light and dark ground, the same bytes each time."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from benchmarks import results
from benchmarks.results import Measured

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 56, 560, 34, 392
LABEL_GAP = 17.0
_OURS = "Satchel"
_OUR_COLOURS = ("one", "two", "three", "four")
_DASHES = ("7 4", "2 4", "9 3 2 3", "1 3", "14 4")
# Colours by name, on light and on dark ground; all but the rule have a contrast of 4.5 to 1 or more.
_PALETTE = {
    "ground": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#f0f6fc"),
    "soft": ("#59636e", "#9ba5b0"),
    "rule": ("#d8dee4", "#30363d"),
    "one": ("#0b62c4", "#62a8ff"),
    "two": ("#b3420b", "#ff9d5c"),
    "three": ("#1a7f37", "#56d364"),
    "four": ("#8250df", "#c297ff"),
}
_VIEW = f' viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'


class NotDrawableError(ValueError):
    """The results have no curve in common."""


def read(paths: Iterable[Path]) -> list[Measured]:
    """Read the systems of several results; a name that was there already gets that of its folder."""
    found: dict[str, Measured] = {}
    for path in paths:
        for one in results.load(path):
            name = f"{one.system} ({path.parent.name})" if one.system in found else one.system
            found[name] = Measured(name, one.outcomes)
    return list(found.values())


def draw(systems: Sequence[Measured]) -> str:
    """Return the picture: a line for each system, its name at the right end, the best at the top.

    The horizontal axis is logarithmic. Strategies of Satchel have colours and full lines, the references are
    grey and dashed. The figures of every point are in its tooltip.

    Raises:
        NotDrawableError: there is no system, or they were asked at different budgets, or at a single one.
    """
    budgets = systems[0].budgets if systems else ()
    if len(budgets) < 2 or any(one.budgets != budgets for one in systems):  # noqa: PLR2004  # a line has two ends
        raise NotDrawableError("Draw results that were all measured at the same budgets, two or more.")
    ordered = sorted(systems, key=lambda one: (-one.coverage(budgets[-1]), -one.coverage(budgets[0])))
    places = spread([_y(one.coverage(budgets[-1])) for one in ordered], LABEL_GAP, TOP, BOTTOM)
    styles = _styles(systems)
    parts = [
        *_frame(budgets),
        *(_curve(one, budgets, styles[one.system]) for one in reversed(ordered)),
        *(
            _label(one, budgets, place, styles[one.system])
            for one, place in zip(ordered, places, strict=True)
        ),
    ]
    title = f"Evidence coverage at {', '.join(map(str, budgets))} tokens for {len(systems)} systems"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"{_VIEW}>',
            f"<title>{escape(title)}</title>",
            f"<style>{_style_sheet()}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
            *parts,
            "</svg>\n",
        ]
    )


def spread(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Return places near the wanted ones, which ascend, at least a gap apart; those at the bottom move up."""
    places: list[float] = []
    for want in wanted:
        places.append(max(want, places[-1] + gap) if places else max(want, top))
    for at in range(len(places) - 1, -1, -1):
        limit = bottom if at == len(places) - 1 else places[at + 1] - gap
        places[at] = min(places[at], limit)
    return places


def _style_sheet() -> str:
    """Return the classes of all colours, for fills and for lines, with those of a dark ground."""

    def colours(at: int) -> str:
        return "".join(
            f".{name} {{ fill: {values[at]} }} .{name}-line {{ stroke: {values[at]} }}\n"
            for name, values in _PALETTE.items()
        )

    return (
        f"\ntext {{ font-family: system-ui, sans-serif; font-size: 13px }}\n{colours(0)}"
        f"@media (prefers-color-scheme: dark) {{\n{colours(1)}}}\n"
    )


@dataclass(frozen=True, slots=True)
class _Style:
    """How a line looks: a colour of the palette, a width, and lengths of dashes or nothing."""

    colour: str
    width: float
    dashes: str = ""

    @property
    def stroke(self) -> str:
        dashes = f' stroke-dasharray="{self.dashes}"' if self.dashes else ""
        return f'class="{self.colour}-line" stroke-width="{self.width}"{dashes}'


def _styles(systems: Sequence[Measured]) -> dict[str, _Style]:
    """Return the look of each system: by its kind, and its place among its kind."""
    ours = [one.system for one in systems if one.system.startswith(_OURS)]
    others = [one.system for one in systems if not one.system.startswith(_OURS)]
    return {
        name: _Style(_OUR_COLOURS[at % len(_OUR_COLOURS)], 3 if at == 0 else 2)
        for at, name in enumerate(ours)
    } | {name: _Style("soft", 1.5, _DASHES[at % len(_DASHES)]) for at, name in enumerate(others)}


def _frame(budgets: Sequence[int]) -> Iterable[str]:
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        yield f'<line class="rule-line" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="soft" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>'
    for budget in budgets:
        x = _x(budget, budgets)
        yield f'<line class="rule-line" x1="{x:.1f}" x2="{x:.1f}" y1="{BOTTOM}" y2="{BOTTOM + 5}"/>'
        yield f'<text class="soft" x="{x:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{budget:,}</text>'
    middle = (LEFT + RIGHT) / 2
    yield f'<text class="soft" x="{middle:.0f}" y="{BOTTOM + 39}" text-anchor="middle">budget, tokens</text>'
    yield f'<text class="soft" x="{LEFT - 40}" y="{TOP - 14}">evidence coverage</text>'
    yield f'<text class="soft" x="{RIGHT + 22}" y="{TOP - 14}">at {budgets[-1]:,} tokens</text>'


def _curve(one: Measured, budgets: Sequence[int], style: _Style) -> str:
    points = [(_x(budget, budgets), _y(one.coverage(budget))) for budget in budgets]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{style.colour}"><title>'
        f"{escape(one.system)}, {budget:,} tokens: {one.coverage(budget):.3f}</title></circle>"
        for (x, y), budget in zip(points, budgets, strict=True)
    )
    return f'<polyline points="{path}" fill="none" stroke-linejoin="round" {style.stroke}/>{dots}'


def _label(one: Measured, budgets: Sequence[int], place: float, style: _Style) -> str:
    """Name a line beside its end, and lead to it where the name had to move."""
    end = _y(one.coverage(budgets[-1]))
    weight = ' font-weight="600"' if one.system == _OURS else ""
    ends = f'x1="{RIGHT + 5}" y1="{end:.1f}" x2="{RIGHT + 18}" y2="{place:.1f}"'
    lead = f'<line class="{style.colour}-line" stroke-opacity="0.6" {ends}/>'
    text = f"{escape(one.system)} {one.coverage(budgets[-1]):.3f}"
    return f'{lead}<text class="ink" x="{RIGHT + 22}" y="{place + 4:.1f}"{weight}>{text}</text>'


def _x(budget: int, budgets: Sequence[int]) -> float:
    low, high = math.log(budgets[0]), math.log(budgets[-1])
    return LEFT + 14 + (RIGHT - LEFT - 14) * (math.log(budget) - low) / (high - low)


def _y(coverage: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * coverage
