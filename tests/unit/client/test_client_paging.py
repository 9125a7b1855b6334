from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client.paging import ManyById, Pages

NEXT = "the next page"


def memories(*ids: str) -> list[Memory]:
    """Return memories with these ids."""
    return [Memory(id=one) for one in ids]


def test_a_list_ends_where_there_is_no_token() -> None:
    pages = Pages(pb.ListMemoriesRequest(wing="kitchen"))
    assert pages.next_call is not None
    assert pages.next_call.request == pb.ListMemoriesRequest(wing="kitchen")

    first = pages.take(pb.ListMemoriesResponse(memories=memories("a"), next_page_token=NEXT))
    assert pages.next_call is not None
    assert pages.next_call.request == pb.ListMemoriesRequest(wing="kitchen", page_token=NEXT)

    second = pages.take(pb.ListMemoriesResponse(memories=memories("b")))
    assert [*first, *second] == memories("a", "b")
    assert pages.next_call is None


def test_more_ids_than_one_call_takes_are_asked_for_in_turn() -> None:
    ids = [str(number) for number in range(1001)]
    many = ManyById(pb.BatchGetMemoriesRequest(project="p"), ids)
    asked = []

    while (call := many.next_call) is not None:
        asked.append(call.request)
        many.take(pb.BatchGetMemoriesResponse(memories=memories(*call.request.ids)))

    assert [len(request.ids) for request in asked] == [1000, 1]
    assert {request.project for request in asked} == {"p"}
    assert [memory.id for memory in many.found] == ids


def test_what_had_no_room_in_an_answer_is_asked_for_again_in_order() -> None:
    many = ManyById(pb.BatchGetMemoriesRequest(), ["a", "b", "c"])

    many.take(pb.BatchGetMemoriesResponse(memories=memories("a"), remaining_ids=["b", "c"]))
    call = many.next_call
    assert call is not None
    assert list(call.request.ids) == ["b", "c"]
    many.take(pb.BatchGetMemoriesResponse(memories=memories("c"), missing_ids=["b"]))

    assert many.next_call is None
    assert many.found == memories("a", "c")


def test_no_ids_need_no_call() -> None:
    assert ManyById(pb.BatchGetMemoriesRequest(), []).next_call is None
