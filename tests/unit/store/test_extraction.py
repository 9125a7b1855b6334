"""The facts of whole texts: kinds, decisions, alternatives, reasons, people and deadlines."""

import pytest

from satchel.store.extraction import extract

WALKTHROUGH = (
    "We decided to migrate to PostgreSQL for v2. Rejected: MySQL (not ACID), MongoDB (not relational). "
    "Reason: ACID and team expertise. Approved by CTO. Assigned to Jean."
)


def test_the_walkthrough_gives_all_its_facts() -> None:
    found = extract(WALKTHROUGH)

    assert found.type == "decision"
    assert found.decision == "migrate to PostgreSQL for v2"
    assert found.rejected == ("MySQL", "MongoDB")
    assert found.reasons == ("ACID", "team expertise")
    assert found.validator == "CTO"
    assert found.assignee == "Jean"
    assert found.deadline is None
    assert found.subjects == ("migration", "PostgreSQL")
    assert not found.negated
    assert found.fact_count == 8


def test_a_french_decision_gives_all_its_facts() -> None:
    found = extract(
        "Nous avons décidé d’adopter Kafka plutôt que RabbitMQ parce que le débit est meilleur. "  # noqa: RUF001
        "Validé par Sophie (PO). Confié à Étienne d’ici vendredi."  # noqa: RUF001
    )

    assert found.type == "decision"
    assert found.decision == "adopter Kafka"
    assert found.rejected == ("RabbitMQ",)
    assert found.reasons == ("le débit est meilleur",)
    assert found.validator == "Sophie (PO)"
    assert found.assignee == "Étienne"
    assert found.deadline == "vendredi"


def test_words_that_only_look_like_cues_give_no_fact() -> None:
    found = extract(
        "The service was deployed as a container and was approved. It listens on ports 8080. "
        "It is likely fine since Monday."
    )

    assert found.type == "fact"
    assert (found.decision, found.rejected, found.reasons) == (None, (), ())
    assert (found.assignee, found.validator, found.deadline) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The team decided to adopt Kubernetes for deployment.", "decision"),
        ("I prefer using Go over Python for this service.", "preference"),
        ("The database connection pool max is 100 connections.", "fact"),
        ("We had a good discussion about the roadmap today.", "session_note"),
        ("We chose PostgreSQL for v2", "decision"),
        ("PostgreSQL chosen for primary DB", "decision"),
        ("Redis was selected as the cache.", "decision"),
        ("Decision: keep the monolith", "decision"),
        ("We will use gRPC between services.", "decision"),
        ("We're going to migrate to Rust.", "decision"),
        ("Let's go with FastAPI.", "decision"),
        ("On a choisi Rust", "decision"),
        ("PostgreSQL a été retenu pour la v2.", "decision"),
        ("Nous allons migrer vers Kubernetes.", "decision"),
        ("Nous utiliserons Docker.", "decision"),
        ("We have not decided to move yet.", "session_note"),
        ("They asked whether we decided.", "session_note"),
        ("He was chosen as captain", "session_note"),
        ("I picked up the kids and selected nothing.", "session_note"),
        ("Je préfère le thé.", "preference"),
        ("Caroline loves pottery.", "preference"),
        ("My favourite editor stays vim", "preference"),
        ("I'd rather walk.", "preference"),
        ("It will likely rain.", "session_note"),
        ("It looks like rain.", "session_note"),
        ("The capital of France is Paris.", "fact"),
        ("Le pool contient 100 connexions.", "fact"),
        ('Traceback (most recent call last):\n  File "x.py", line 3', "debug_log"),
        ("2026-01-02 10:11:12,123 ERROR worker failed", "debug_log"),
        ("ERROR: no space left on device", "debug_log"),
        ("ValueError: invalid literal", "debug_log"),
        ("    at com.example.Main.run(Main.java:12)", "debug_log"),
        ("The import raised a KeyError again", "debug_log"),
        ("The worker died: segmentation fault", "debug_log"),
        ("We decided to catch KeyError in the loader.", "decision"),
        ("", "session_note"),
    ],
)
def test_the_kind_is_inferred_from_whole_words_in_both_languages(text: str, kind: str) -> None:
    assert kind == extract(text).type


@pytest.mark.parametrize("declared", ["decision", "fact", "preference", "session_note", "debug_log"])
def test_a_declared_kind_wins_over_the_text(declared: str) -> None:
    assert declared == extract("I prefer tea.", declared_type=declared).type


def test_an_unknown_declared_kind_is_ignored() -> None:
    assert extract("I prefer tea.", declared_type="rumour").type == "preference"


def test_a_text_declared_a_decision_is_taken_at_its_word() -> None:
    assert extract("Tabs, not spaces. Ask Jean.", declared_type="decision").decision == "Tabs, not spaces"


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("We decided not to use MySQL", "not to use MySQL"),
        ("Since MySQL lacks X, we chose PG instead of MySQL.", "PG"),
        ("It was decided to freeze the schema because of the audit.", "freeze the schema"),
        ("We opted for a queue, due to load.", "a queue"),
        ("The decision was to wait.", "wait"),
        ("Il a été décidé de geler le schéma, car le bus est plein.", "geler le schéma"),
        ("Choix : SQLite", "SQLite"),
        ("On a opté pour Go.", "Go"),
        ("We have chosen Rust.", "Rust"),
        ("Maria selected Terraform.", None),
        ("The board selected Terraform.", "Terraform"),
        ("Jean chose Vim.", "Vim"),
        ("We chose Kafka (rejected: NATS) for the log.", "Kafka"),
        ("the dress chose itself", None),
        ("We agreed on v2.3.1 for the\nclient library. Then lunch.", "v2.3.1 for the client library"),
    ],
)
def test_the_decision_ends_before_its_reason_and_its_alternative(text: str, decision: str | None) -> None:
    assert decision == extract(text).decision


@pytest.mark.parametrize(
    ("text", "rejected"),
    [
        ("MySQL and MongoDB were rejected because they lack ACID.", ("MySQL", "MongoDB")),
        ("We looked at both, but MySQL was ruled out.", ("MySQL",)),
        ("We rejected MySQL and MongoDB for cost.", ("MySQL", "MongoDB")),
        ("The request was rejected by the proxy.", ("request",)),
        ("Écartés : MySQL (lent), MongoDB", ("MySQL", "MongoDB")),
        ("MySQL a été écarté.", ("MySQL",)),
        ("Rejected:\n- MySQL (not ACID)\n- MongoDB\n", ("MySQL", "MongoDB")),
        ("Instead of MySQL, we use SQLite.", ("MySQL",)),
        ("On prend Go au lieu de Java.", ("Java",)),
        ("We chose Go over Python for speed.", ("Python",)),
        ("We decided against Kafka.", ("Kafka",)),
        ("It is over now, come over.", ()),
        ("Rejected: MySQL, mysql, MySQL", ("MySQL",)),
        ("Rejected: MySQL (never closed", ("MySQL",)),
        ("We chose Kafka (rejected: RabbitMQ (slow), NATS) because of replay.", ("RabbitMQ", "NATS")),
        ("We chose Kafka (rather than RabbitMQ) for the log.", ("RabbitMQ",)),
    ],
)
def test_alternatives_are_listed_without_remarks(text: str, rejected: tuple[str, ...]) -> None:
    assert rejected == extract(text).rejected


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("It failed because the disk was full.", ("the disk was full",)),
        ("Late due to rain and late because of ice.", ("rain and late", "ice")),
        ("We moved, as it is cheaper.", ("it is cheaper",)),
        ("We use it as a cache.", ()),
        ("I have lived here since 2019, and ever since then.", ()),
        ("We stay since it works.", ("it works",)),
        ("The car on the street is mine.", ()),
        ("On part, car il pleut.", ("il pleut",)),
        ("En raison du gel, on attend.", ("gel",)),
        ("Rationale: one writer keeps the order of all.", ("one writer keeps the order of all",)),
        ("Reasons:\n- ACID\n- one very long reason that is more than four words\n",
         ("ACID", "one very long reason that is more than four words")),
        ("Fails for e.g. tabs because of Dr. Smith's file.", ("Dr. Smith's file",)),
    ],
)  # fmt: skip
def test_reasons_need_a_construction_that_gives_one(text: str, reasons: tuple[str, ...]) -> None:
    assert reasons == extract(text).reasons


@pytest.mark.parametrize(
    ("text", "assignee"),
    [
        ("Jean will take care of it.", "Jean"),
        ("Sophie Martin is responsible for the rollout.", "Sophie Martin"),
        ("Owner: the platform team", "platform team"),
        ("Assigned to: @jean-d", "jean-d"),
        ("Élodie s'occupe des tests.", "Élodie"),
        ("Marc va implémenter la reprise.", "Marc"),
        ("Attribué à l'équipe infra.", "équipe infra"),
        ("Yesterday Jean will fix it", "Jean"),
        ("We will implement it.", None),
        ("Kubernetes will handle restarts.", None),
        ("This will do.", None),
        ("Assigned to port 8080.", None),
    ],
)
def test_the_assignee_is_a_person_a_role_or_a_team(text: str, assignee: str | None) -> None:
    assert assignee == extract(text).assignee


@pytest.mark.parametrize(
    ("text", "validator"),
    [
        ("CTO approved.", "CTO"),
        ("Sophie has approved the plan.", "Sophie"),
        ("Signed off by Legal.", "Legal"),
        ("Reviewed and approved by the CTO and Marc.", "CTO"),
        ("Approuvé par la direction.", "direction"),
        ("Marie a validé le budget.", "Marie"),
        ("It was approved.", None),
        ("They approved it.", None),
        ("Budget approved.", None),
    ],
)
def test_the_validator_is_named_before_or_after_the_verb(text: str, validator: str | None) -> None:
    assert validator == extract(text).validator


@pytest.mark.parametrize(
    ("text", "deadline"),
    [
        ("Ship it by Friday.", "Friday"),
        ("Done before 2026-12-01.", "2026-12-01"),
        ("By the end of March, please", "the end of March"),
        ("Due tomorrow at 5pm", "tomorrow at 5pm"),
        ("Due date: 12/03/2026", "12/03/2026"),
        ("Deadline: when the audit ends, no later", "when the audit ends"),
        ("The deadline is set for June 5th, 2026.", "June 5th, 2026"),
        ("No later than Q3 2026", "Q3 2026"),
        ("À livrer avant le 12 mars 2026.", "le 12 mars 2026"),
        ("Échéance : 1er avril", "1er avril"),
        ("D'ici la fin du mois", "la fin du mois"),
        ("Au plus tard lundi", "lundi"),
        ("Planned for Sprint 12.", "Sprint 12"),
        ("I went there the week before 9 June 2023.", None),
        ("Written by May.", None),
        ("Room 8080 by 12 people", None),
    ],
)
def test_the_deadline_is_quoted_as_written(text: str, deadline: str | None) -> None:
    assert deadline == extract(text).deadline


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("We do not use MySQL.", True),
        ("We don't use MySQL.", True),
        ("Nous n'utilisons pas MySQL.", True),
        ("Nothing works. We use MySQL.", True),
        ("We use MySQL. It is not slow.", False),
        ("We use MySQL (not Oracle).", False),
        ("A note on knots.", False),
    ],
)
def test_negation_is_read_in_the_leading_statement_outside_brackets(text: str, negated: bool) -> None:  # noqa: FBT001
    assert negated is extract(text).negated
