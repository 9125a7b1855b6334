"""Walks through answers that come in parts. Makes no call: the clients do, and hand in the answers."""

from collections.abc import Iterable, Sequence

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client import rpcs
from satchel.client.requests import Call

_MAX_IDS = 1000


class Pages:
    """The pages of a list; ``next_call`` asks for the next page and is `None` after the last."""

    def __init__(self, first: pb.ListMemoriesRequest) -> None:
        self.next_call: Call[pb.ListMemoriesRequest, pb.ListMemoriesResponse] | None = Call(rpcs.LIST, first)

    def take(self, page: pb.ListMemoriesResponse) -> Sequence[Memory]:
        """Return the memories of the page that ``next_call`` brought, and go on."""
        if self.next_call is not None and page.next_page_token:
            following = pb.ListMemoriesRequest()
            following.CopyFrom(self.next_call.request)
            following.page_token = page.next_page_token
            self.next_call = Call(rpcs.LIST, following)
        else:
            self.next_call = None
        return page.memories


class ManyById:
    """Memories by id, asked for in as many calls as it takes; ``found`` has them in the order of the ids."""

    def __init__(self, template: pb.BatchGetMemoriesRequest, ids: Iterable[str]) -> None:
        self.found: list[Memory] = []
        self._template = template
        self._left = list(ids)

    @property
    def next_call(self) -> Call[pb.BatchGetMemoriesRequest, pb.BatchGetMemoriesResponse] | None:
        """Ask for the next ids; `None` when there are no more."""
        if not self._left:
            return None
        request = pb.BatchGetMemoriesRequest(ids=self._left[:_MAX_IDS])
        request.MergeFrom(self._template)
        return Call(rpcs.GET_BATCH, request)

    def take(self, answer: pb.BatchGetMemoriesResponse) -> None:
        """Keep what ``next_call`` brought, and go on with what had no room in it."""
        self.found.extend(answer.memories)
        self._left = [*answer.remaining_ids, *self._left[_MAX_IDS:]]
