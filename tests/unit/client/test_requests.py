import uuid

import pytest

from satchel.api.allocator.v1.allocator_service_pb2 import Candidate
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client.fields import CandidateFields
from satchel.client.requests import Requests

PLAIN = Requests()
PLACED = Requests(project="bakery", wing="kitchen")


def test_a_memory_without_a_wing_lies_in_the_general_one() -> None:
    assert PLAIN.remember("x", {}).request.wing == "general"


def test_questions_without_a_wing_are_asked_in_all() -> None:
    assert PLAIN.recall("x", 0, {}).request.wing == ""
    assert PLAIN.search("x", 10, {}).request.wing == ""
    assert PLAIN.list({}).wing == ""


def test_the_clients_project_and_wing_serve_what_names_none() -> None:
    stored, asked, listed = (
        PLACED.remember("x", {}).request,
        PLACED.recall("x", 0, {}).request,
        PLACED.list({}),
    )

    assert {stored.project, asked.project, listed.project} == {"bakery"}
    assert {stored.wing, asked.wing, listed.wing} == {"kitchen"}


def test_a_call_may_name_another_place_than_the_client() -> None:
    made = PLACED.recall("x", 0, {"project": "shop", "wing": ""}).request

    assert (made.project, made.wing) == ("shop", "")


def test_every_write_has_a_request_id_of_its_own() -> None:
    made = [
        PLAIN.remember("x", {}).request.request_id,
        PLAIN.remember("x", {}).request.request_id,
        PLAIN.remember_many(["x"], {}).request.request_id,
        PLAIN.update("i", {}, expected_version=0, project=None).request.request_id,
        PLAIN.delete("i", expected_version=0, project=None).request.request_id,
    ]

    assert len({uuid.UUID(one) for one in made}) == len(made)


def test_a_given_request_id_is_kept() -> None:
    given = uuid.uuid4()

    assert PLAIN.remember("x", {"request_id": given}).request.request_id == str(given)
    assert PLAIN.remember_many(["x"], {"request_id": given}).request.request_id == str(given)


def test_a_batch_may_mix_texts_fields_and_messages() -> None:
    given = ["a", {"content": "b", "wing": "cellar"}, pb.StoreMemoryRequest(content="c", wing="attic")]

    made = PLAIN.remember_many(given, {"wing": "hall"}).request.memories  # type: ignore[arg-type]

    assert [(one.content, one.wing) for one in made] == [("a", "hall"), ("b", "cellar"), ("c", "attic")]


def test_a_message_gets_project_and_shared_fields_where_it_names_none() -> None:
    own = Requests(project="work", wing="attic")
    given = [
        pb.StoreMemoryRequest(content="a"),
        pb.StoreMemoryRequest(content="b", project="home", tags=["t"]),
    ]

    made = own.remember_many(given, {"tags": ["shared"]}).request.memories

    assert [(one.project, one.wing, list(one.tags)) for one in made] == [
        ("work", "attic", ["shared"]),
        ("home", "attic", ["t"]),
    ]


def test_many_texts_have_the_timeout_more_than_once() -> None:
    counts = [1, 50, 51, 500]

    assert [PLAIN.embed(["x"] * n, "query", split_passages=False).patience for n in counts] == [1, 1, 2, 10]


def test_an_update_names_what_it_changes_and_what_it_clears() -> None:
    made = PLAIN.update("i", {"content": "x", "title": None, "tags": []}, expected_version=3, project=None)

    assert list(made.request.update_mask.paths) == ["content", "title", "tags"]
    assert (made.request.content, made.request.title, made.request.expected_version) == ("x", "", 3)


def test_an_exported_memory_keeps_its_project_unless_the_client_has_one() -> None:
    exported = Memory(id="i", project="old", wing="attic")

    assert PLAIN.import_(1, exported).memory == exported
    moved = PLACED.import_(1, exported).memory
    assert (moved.project, moved.wing) == ("bakery", "attic")
    assert exported.project == "old"


def test_an_export_of_all_projects_names_none() -> None:
    assert PLACED.export({"all_projects": True}).request.project == ""
    assert PLACED.export({}).request.project == "bakery"


def test_a_candidate_has_its_vector_packed() -> None:
    row = CandidateFields(id="a", content="x", vector=[1.0, 0.0])
    packed = Candidate(id="a", content="x", vector=b"\x00\x00\x80\x3f\x00\x00\x00\x00")

    made = PLAIN.allocate([row, packed], 10, {}).request

    assert list(made.candidates) == [packed, packed]


def test_one_text_is_not_taken_for_many() -> None:
    with pytest.raises(TypeError, match="'memories' must list values"):
        PLAIN.remember_many("a text", {})
