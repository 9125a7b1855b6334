"""Which words tell of a cause, in English and French, and which do not."""

import pytest

from satchel.store.causality.triggers import find_triggers
from satchel.store.model import Relation, Trigger

BECAUSE, TRIGGERED = Relation.BECAUSE, Relation.TRIGGERED
UPDATES, CONTRADICTS, RESOLVES = Relation.UPDATES, Relation.CONTRADICTS, Relation.RESOLVES

TELLING = [
    ("Following the payment outage, we doubled the heap.", TRIGGERED, "following"),
    ("After the outage we doubled the heap.", TRIGGERED, "after"),
    ("In response to the audit, keys rotate weekly.", TRIGGERED, "in response to"),
    ("The rollback was triggered by the alert.", TRIGGERED, "triggered by"),
    ("Suite à la panne de Redis, nous avons migré.", TRIGGERED, "suite a"),
    ("À la suite d\u2019une panne, nous avons migré.", TRIGGERED, "a la suite d'"),
    ("Après la panne, nous avons migré.", TRIGGERED, "apres"),
    ("We doubled the heap because the cache was full.", BECAUSE, "because"),
    ("Since the cache was full, we doubled the heap.", BECAUSE, "since"),
    ("The outage was due to the cache.", BECAUSE, "due to"),
    ("It failed as a result of the migration.", BECAUSE, "as a result of"),
    ("Nous gardons Redis parce qu'il est rapide.", BECAUSE, "parce qu'"),
    ("Nous gardons Redis, car PostgreSQL est lent.", BECAUSE, "car"),
    ("Nous gardons Redis car il est rapide.", BECAUSE, "car"),
    ("En raison du budget, rien ne bouge.", BECAUSE, "en raison du"),
    ("Grâce à Redis, tout va vite.", BECAUSE, "grace a"),
    ("This contradicts the decision on PostgreSQL.", CONTRADICTS, "contradicts"),
    ("The figure conflicts with the report.", CONTRADICTS, "conflicts with"),
    ("The figure is inconsistent with the report.", CONTRADICTS, "inconsistent with"),
    ("Cela contredit la décision sur Redis.", CONTRADICTS, "contredit"),
    ("Ce choix est incompatible avec la décision.", CONTRADICTS, "incompatible avec"),
    ("This updates the retention of logs.", UPDATES, "updates"),
    ("The new policy updates PostgreSQL settings.", UPDATES, "updates"),
    ("Version 2 replaces the old policy.", UPDATES, "replaces"),
    ("Version 2 supersedes the old policy.", UPDATES, "supersedes"),
    ("Cette note met à jour la politique.", UPDATES, "met a jour"),
    ("La version 2 remplace la politique.", UPDATES, "remplace"),
    ("Cette note actualise la politique.", UPDATES, "actualise"),
    ("The patch resolves the crash.", RESOLVES, "resolves"),
    ("The patch solves the crash.", RESOLVES, "solves"),
    ("The patch fixes the crash.", RESOLVES, "fixes"),
    ("The patch addresses the crash.", RESOLVES, "addresses"),
    ("We fixed the crash.", RESOLVES, "fixed"),
    ("Le correctif résout la panne.", RESOLVES, "resout"),
    ("Le correctif règle le problème.", RESOLVES, "regle"),
    ("Le correctif corrige la panne.", RESOLVES, "corrige"),
    ("Le correctif solutionne la panne.", RESOLVES, "solutionne"),
]


@pytest.mark.parametrize(("text", "relation", "phrase"), TELLING)
def test_a_word_that_tells_of_a_cause_is_found_in_either_language(
    text: str, relation: Relation, phrase: str
) -> None:
    assert Trigger(relation, phrase) in find_triggers(text)


@pytest.mark.parametrize(
    "text",
    [
        "However, the cache works.",
        "The cache_because_of and becauseless and unresolved.",
        "Il recontredit, et le remplaçant attend.",
        "Prefix-updates, after-sales and fixed-size buffers.",
    ],
)
def test_a_contrast_and_a_part_of_another_word_tell_of_none(text: str) -> None:
    assert find_triggers(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "It is slow, not because of the cache.",
        "It isn't due to the cache.",
        "The crash has not yet been resolved.",
        "The patch never updates the cache.",
        "The crash cannot be solved.",
        "Ce n'est pas parce que le cache est plein.",
        "Cela ne contredit pas la décision.",
        "Il n'a pas résolu la panne.",
        "Redis arrive sans remplacer la base.",
    ],
)
def test_a_denied_word_tells_of_none(text: str) -> None:
    assert find_triggers(text) == ()


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("We did not move because the budget was cut.", BECAUSE),
        ("Not only because of the budget.", BECAUSE),
        ("It is not slow, and resolves the crash.", RESOLVES),
        ("It isn't the cache. The patch resolves the crash.", RESOLVES),
        ("Not because of the cache, but because of the disk.", BECAUSE),
    ],
)
def test_a_denial_of_something_else_leaves_the_word(text: str, relation: Relation) -> None:
    assert relation in [trigger.relation for trigger in find_triggers(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Do the following steps.",
        "I bought a car and it is red.",
        "The car is fast.",
        "Running since Monday, and since 2019 on Linux.",
        "Security updates are out, and the updates to the API too.",
        "IP addresses leaked; the addresses were public.",
        "La règle est simple.",
        "D'après Jean, tout va bien.",
        "Look after the cat, after all.",
        "The host resolves to 10.0.0.1.",
        "La suite a échoué.",
        "There are merge conflicts with main.",
    ],
)
def test_a_noun_or_a_word_of_time_tells_of_none(text: str) -> None:
    assert find_triggers(text) == ()


def test_each_relation_is_told_of_once_by_its_first_word() -> None:
    found = find_triggers("Since it was slow, and because it was old, it replaces X. Elle remplace Y.")

    assert found == (Trigger(BECAUSE, "since"), Trigger(UPDATES, "replaces"))
