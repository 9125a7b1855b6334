from typing import Any

import pytest
from google.rpc import status_pb2

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.client import Imported, Internal
from satchel.client.importing import WINDOW, Account
from satchel.client.requests import Requests


def stored(sequence: int, *, duplicate: bool = False) -> pb.ImportMemoriesResponse:
    """Return the answer to a good record."""
    return pb.ImportMemoriesResponse(sequence=sequence, stored=pb.StoreMemoryResponse(duplicate=duplicate))


def refused(sequence: int) -> pb.ImportMemoriesResponse:
    """Return the answer to a bad record."""
    return pb.ImportMemoriesResponse(sequence=sequence, error=status_pb2.Status(code=3, message="Blank."))


def test_records_are_numbered_from_one() -> None:
    account = Account(Requests(), None)

    requests = [account.request("x") for _ in range(3)]

    assert [one.sequence for one in requests if one is not None] == [1, 2, 3]


def test_a_record_of_which_no_request_can_be_made_keeps_its_number_and_waits_for_no_answer() -> None:
    told: list[Imported] = []
    account = Account(Requests(), told.append)
    bad: Any = {"content": "y", "wings": "typo"}

    requests = [account.request("x"), account.request(bad), account.request("z")]
    account.end()
    for answer in (stored(1), stored(3)):
        account.take(answer)

    assert [one and one.sequence for one in requests] == [1, None, 3]
    assert [(one.sequence, one.error is None) for one in told] == [(2, False), (1, True), (3, True)]
    assert (account.close().stored, account.close().failed) == (2, 1)


def test_what_became_of_every_record_is_counted_and_told() -> None:
    told: list[Imported] = []
    account = Account(Requests(), told.append)
    for _ in range(3):
        account.request("x")
    account.end()

    for answer in (stored(1), stored(2, duplicate=True), refused(3)):
        account.take(answer)
    report = account.close()

    assert (report.stored, report.duplicates, report.failed) == (1, 1, 1)
    assert [one.sequence for one in told] == [1, 2, 3]
    assert [str(one.error) for one in report.failures] == ["Blank."]


def test_only_so_many_records_wait_for_their_answer() -> None:
    account = Account(Requests(), None)
    for _ in range(WINDOW):
        assert not account.is_full
        account.request("x")

    assert account.is_full
    account.take(stored(1))
    assert not account.is_full


def test_the_report_does_not_grow_with_the_failures() -> None:
    account = Account(Requests(), None)
    for number in range(1, 1502):
        account.request("x")
        account.take(refused(number))
    account.end()

    report = account.close()
    assert (report.failed, len(report.failures)) == (1501, 1000)


def test_a_stream_that_ends_too_early_is_an_error() -> None:
    account = Account(Requests(), None)
    account.request("x")
    account.end()

    with pytest.raises(Internal, match="Import it again"):
        account.close()


def test_a_stream_that_ends_before_the_records_do_is_an_error() -> None:
    with pytest.raises(Internal, match="Import it again"):
        Account(Requests(), None).close()
