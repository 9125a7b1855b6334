from datetime import UTC, datetime
from uuid import UUID

import pytest
from google.protobuf.message import Message

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.types.v1 import memory_pb2
from satchel.client import fields
from satchel.client.fields import build

# Left out on purpose: what methods take by itself, and `metrics`, which is for clients of MIRA.
CASES: list[tuple[type, type[Message], set[str]]] = [
    (fields.NewMemory, memory_pb.StoreMemoryRequest, {"metrics"}),
    (
        fields.ChangedFields,
        memory_pb.UpdateMemoryRequest,
        {"id", "project", "update_mask", "expected_version", "request_id"},
    ),
    (fields.RecallFields, allocator_pb.RecallRequest, {"query", "budget"}),
    (fields.SearchFields, allocator_pb.SearchMemoriesRequest, {"query", "top_k"}),
    (fields.ListFields, memory_pb.ListMemoriesRequest, {"page_token"}),
    (fields.ExportFields, memory_pb.ExportMemoriesRequest, set()),
    (fields.AllocateFields, allocator_pb.AllocateRequest, {"candidates", "budget"}),
    (fields.CandidateFields, allocator_pb.Candidate, set()),
]


@pytest.mark.parametrize(
    ("named", "message", "left_out"), CASES, ids=lambda case: getattr(case, "__name__", "")
)
def test_calls_take_every_field_of_the_contract(
    named: type, message: type[Message], left_out: set[str]
) -> None:
    keys = named.__required_keys__ | named.__optional_keys__  # type: ignore[attr-defined]

    assert keys == {field.name for field in message.DESCRIPTOR.fields} - left_out


@pytest.mark.parametrize(
    "word", ["decision", "DECISION", "MEMORY_TYPE_DECISION", memory_pb2.MEMORY_TYPE_DECISION]
)
def test_a_type_is_a_word_or_the_contracts_value(word: str | int) -> None:
    assert build(memory_pb.StoreMemoryRequest, {"type": word}).type == memory_pb2.MEMORY_TYPE_DECISION


def test_lists_of_words_are_understood() -> None:
    made = build(memory_pb.ExportMemoriesRequest, {"states": ["active", "archived"]})

    assert list(made.states) == [memory_pb2.MEMORY_STATE_ACTIVE, memory_pb2.MEMORY_STATE_ARCHIVED]


def test_an_unknown_word_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"'idea' is no MemoryType\. Give one of decision, fact, .*debug_log"
    ):
        build(memory_pb.StoreMemoryRequest, {"type": "idea"})


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValueError, match="wign"):
        build(memory_pb.StoreMemoryRequest, {"wign": "kitchen"})


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="'occurred_at' has no zone"):
        build(memory_pb.StoreMemoryRequest, {"occurred_at": datetime(2026, 3, 3)})  # noqa: DTZ001


def test_times_metadata_and_ids_are_taken_as_python_has_them() -> None:
    given = {
        "occurred_at": datetime(2026, 3, 3, 9, tzinfo=UTC),
        "metadata": {"pages": [1, 2], "draft": None},
        "request_id": UUID(int=7),
    }

    made = build(memory_pb.StoreMemoryRequest, given)

    assert made.occurred_at.ToDatetime(UTC) == given["occurred_at"]
    assert dict(made.metadata.items())["draft"] is None
    assert made.request_id == "00000000-0000-0000-0000-000000000007"


def test_one_tag_is_not_a_list_of_letters() -> None:
    assert list(build(memory_pb.StoreMemoryRequest, {"tags": "oven"}).tags) == ["oven"]


def test_what_is_none_is_not_sent() -> None:
    assert build(memory_pb.StoreMemoryRequest, {"wing": None, "tags": None}) == memory_pb.StoreMemoryRequest()
