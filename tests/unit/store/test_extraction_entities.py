"""Names, identifiers and subjects."""

import pytest

from satchel.store.extraction import extract


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Microsoft and Google are competing in Paris.", ("Microsoft", "Google", "Paris")),
        ("Write to jean.d+x@example.co.uk or see https://example.com/docs?a=1.",
         ("jean.d+x@example.co.uk", "https://example.com/docs?a=1")),
        ("Élodie meets Ömer at Renault.", ("Élodie", "Ömer", "Renault")),
        ("We use AWS, JWT and an API.", ("AWS", "JWT", "API")),
        ("Ticket ERR_4711-x sets max_connections on EC2.", ("ERR_4711-x", "max_connections", "EC2")),
        ("Caroline: Hey Mel! Good to see you!", ("Caroline", "Mel")),
        ("Xanadu: Hello there.", ("Xanadu",)),
        ("Note: nothing. Reason: none.", ()),
        ("Yesterday was fine. Deployment went well. Everything works.", ()),
        ("Zorg stayed. Nobody knows Zorg.", ("Zorg",)),
        ("Grace Hopper said so in New York.", ("Grace Hopper", "New York")),
        ("Visit Paris. Thank Sophie.", ("Paris", "Sophie")),
        ("L'API d'Amazon et l’équipe.", ("API", "Amazon")),  # noqa: RUF001
        ("Dr. Smith's lab met O'Brien on Monday in March.", ("Smith", "O'Brien")),
        ("PLEASE DO NOT DEPLOY TODAY", ()),
        ("I use Vim, VIM and vim; then Emacs.", ("Vim", "Emacs")),
        ("日本語で PostgreSQLを使う。", ("PostgreSQL",)),
        ("Release v2.3.1 on 2026-12-01 at 10:30.", ()),
    ],
)  # fmt: skip
def test_entities_come_once_each_in_order_of_first_appearance(text: str, entities: tuple[str, ...]) -> None:
    assert entities == extract(text).entities


def test_at_most_64_entities_are_kept() -> None:
    text = " ".join(f"and Name{chr(65 + i // 26)}{chr(97 + i % 26)}x" for i in range(100))

    assert len(extract(text).entities) == 64


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("Subject: nightly backups", ("nightly backups", "backup")),
        ("We talked about the new release plan today.", ("new release plan", "release")),
        ("À propos du budget de 2026.", ("budget",)),
        ("About 5 people came.", ("people", "came")),
        ("Our deployment to Paris", ("deployment", "Paris")),
        ("The kettle boils; the kettle sings.", ("kettle", "boils")),
        ("", ("session note",)),
    ],
)
def test_subjects_are_explicit_then_topics_then_names_then_words(
    text: str, subjects: tuple[str, ...]
) -> None:
    assert subjects == extract(text).subjects


def test_rejected_names_and_people_are_no_subjects() -> None:
    found = extract("PostgreSQL chosen over MySQL. Approved by Sophie.")

    assert found.subjects == ("PostgreSQL",)
