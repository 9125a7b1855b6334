"""Regular expressions of the numbers between two bounds, in the syntax shared by ECMA 262 and Python."""

from collections.abc import Iterator
from decimal import Decimal

_ANY = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"


def whole_number(least: int, most: int) -> str:
    """Return the form of the whole numbers between the bounds, both included, and of nothing else."""
    forms = [f"-(?:{form})" for form in _digits(max(1, -most), -least)] if least < 0 else []
    forms.extend(_digits(max(least, 0), most))
    return f"^(?:{'|'.join(forms)})$"


def decimal(least: Decimal | None, most: Decimal | None) -> str:
    """Return the form of the decimals between the bounds, both included, with or without a fraction.

    Where a bound has more than one digit after the point, or no maximum is given, the form also has decimals
    outside the bounds: the services refuse them.
    """
    return f"^(?:{'|'.join(_decimals(least, most))})$"


def _decimals(least: Decimal | None, most: Decimal | None) -> Iterator[str]:
    """Yield forms of the decimals of both signs between the bounds, of which `None` is none."""
    if least is None or least < 0:
        low = max(-most, Decimal(0)) if most is not None else Decimal(0)
        yield from (f"-(?:{form})" for form in _positives(low, None if least is None else -least))
    if most is None or most >= 0:
        yield from _positives(max(least or Decimal(0), Decimal(0)), most)


def _positives(least: Decimal, most: Decimal | None) -> Iterator[str]:
    """Yield forms of the decimals from ``least`` to ``most``, neither of which is negative."""
    first, last = int(least * 10), int((most or 0) * 10)
    if most is None or first >= last or least * 10 != first or most * 10 != last:
        yield _ANY
    else:
        yield from _tenths(first, last)


def _tenths(first: int, last: int) -> Iterator[str]:
    """Yield forms of the decimals from ``first`` to ``last`` tenths, of which there are more than one."""
    (unit, rest), (whole, end) = divmod(first, 10), divmod(last, 10)
    if rest and unit == whole:
        yield rf"{unit}\.(?:[{rest}-{end - 1}][0-9]*|{end}0*)"
        return
    if rest:
        yield rf"{unit}\.[{rest}-9][0-9]*"
        unit += 1
    if unit < whole:
        yield rf"(?:{'|'.join(_digits(unit, whole - 1))})(?:\.[0-9]+)?"
    yield rf"{whole}(?:\.(?:[0-{end - 1}][0-9]*|{end}0*))?" if end else rf"{whole}(?:\.0+)?"


def _digits(least: int, most: int) -> Iterator[str]:
    """Yield forms of the whole numbers from ``least`` (at least 0) to ``most``, by their count of digits."""
    while least <= most:
        size = len(str(least))
        last = min(most, 10**size - 1)
        yield from _same_size(str(least), str(last))
        least = last + 1


def _same_size(least: str, most: str) -> Iterator[str]:
    """Yield forms of the numbers between two that have as many digits."""
    if not least:
        yield ""
    elif least[0] == most[0]:
        yield from (least[0] + form for form in _same_size(least[1:], most[1:]))
    else:
        yield from _parted(least, most)


def _parted(least: str, most: str) -> Iterator[str]:
    """Yield forms of the numbers between two whose first digits differ."""
    size = len(least) - 1
    first, last = int(least[0]), int(most[0])
    if int(least[1:] or 0) > 0:
        yield from (least[0] + form for form in _same_size(least[1:], "9" * size))
        first += 1
    is_cut = bool(size) and most[1:] != "9" * size
    last -= is_cut
    if first <= last:
        yield (f"[{first}-{last}]" if first < last else str(first)) + (f"[0-9]{{{size}}}" if size else "")
    if is_cut:
        yield from (most[0] + form for form in _same_size("0" * size, most[1:]))
