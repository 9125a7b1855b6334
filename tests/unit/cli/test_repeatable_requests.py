import uuid

from satchel.api.allocator.v1.allocator_service_pb2 import RecallRequest
from satchel.api.store.v1.memory_service_pb2 import StoreMemoryRequest
from satchel.gateway.home_channel import repeatable


def test_a_write_gets_a_request_id_so_that_it_may_be_sent_twice() -> None:
    given = StoreMemoryRequest(content="x", wing="w")

    sent = repeatable(given)

    assert uuid.UUID(sent.request_id)
    assert (sent.content, given.request_id) == ("x", "")


def test_a_request_id_of_the_caller_stays() -> None:
    given = StoreMemoryRequest(request_id="0190b2c8-3b5e-7cc0-9a55-2b4c6d7e8f90")

    assert repeatable(given) is given


def test_a_read_stays_as_it_is() -> None:
    given = RecallRequest(query="q")

    assert repeatable(given) is given
