"""The pages that name a test for each row name tests that there are."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parent / "docs"
PAGES = ("compatibility.md", "faults.md")
SPAN = re.compile(r"`([^`]+)`")


def rows(page: str) -> Iterator[str]:
    """Yield the last cell of each row of the tables of a page whose last column is for tests."""
    proves = False
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        cell = line.rstrip("| ").rpartition("|")[2].strip()
        if not line.startswith("|"):
            proves = False
        elif cell == "Test":
            proves = True
        elif proves and not set(cell) <= set("-: "):
            yield cell


def is_there(named: str) -> bool:
    place, _, function = named.partition("::")
    path = TESTS / place
    if not function:
        return path.exists()
    return path.is_file() and bool(
        re.search(rf"^(async )?def {function}\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_row_names_a_test_and_every_test_that_is_named_is_there(page: str) -> None:
    cells = list(rows(page))
    named = [name for cell in cells for name in SPAN.findall(cell)]

    assert len(cells) > 20
    assert [cell for cell in cells if not SPAN.search(cell)] == []
    assert [name for name in named if not is_there(name)] == []
