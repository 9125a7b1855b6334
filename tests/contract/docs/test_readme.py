"""What the README shows is what the repository holds."""

import re
from pathlib import Path

import pytest

from requirements import requirement

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = sorted(path for path in (ROOT / "docs" / "examples").iterdir() if path.is_file())
LONGEST_EXAMPLE = 18


def block(mark: str) -> str:
    """Return the fenced block that follows a mark."""
    match = re.search(rf"<!-- {re.escape(mark)} -->\n```\w*\n(.*?)```", README, re.DOTALL)
    assert match, f"README.md has no block marked {mark!r}"
    return match[1]


@requirement("docs:true")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_of_the_readme_is_the_tested_file(example: Path) -> None:
    assert example.read_text(encoding="utf-8") == block(f"example {example.name}")


@requirement("docs:true")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_short(example: Path) -> None:
    assert len(example.read_text(encoding="utf-8").splitlines()) <= LONGEST_EXAMPLE


@requirement("docs:true")
def test_every_local_link_of_the_documents_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]

    assert broken == []
