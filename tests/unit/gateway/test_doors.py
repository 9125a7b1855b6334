import json
import re
import socket
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from requirements import requirement
from satchel.gateway.errors import (
    BodyTooLarge,
    HostRefused,
    PathNotFound,
    RateLimited,
    SlowBody,
    TooManyRequests,
    UnknownTool,
    VerbNotAllowed,
    WrongContentCoding,
    WrongContentType,
)
from satchel.gateway.main import bind
from satchel.gateway.mcp.frames import mend, restored
from satchel.gateway.problems import problem_of, status_of
from satchel.gateway.settings import PREFIX, GatewaySettings, ProcessSettings, require_guarded
from satchel.gateway.transcoder.descriptors import load_contract
from satchel.gateway.transcoder.json_text import MalformedJson
from satchel.gateway.transcoder.number_forms import decimal, whole_number
from satchel.gateway.transcoder.routes import RouteTable
from satchel.runtime.errors import (
    Cancelled,
    Code,
    DeadlineExceeded,
    InternalError,
    InvalidRequest,
    Overloaded,
    PeerUnavailable,
    PermissionDenied,
    RemoteError,
    ServiceError,
    Unauthenticated,
    Unimplemented,
    Violation,
)
from satchel.runtime.settings import SettingsError, load


def remote(code: Code, reason: str) -> RemoteError:
    return RemoteError("It failed.", code=code, reason=reason)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MalformedJson("It is not JSON", "send JSON"), 400),
        (Unauthenticated(), 401),
        (PermissionDenied("No."), 403),
        (HostRefused("Host"), 403),
        (PathNotFound("GET", "/x"), 404),
        (UnknownTool("x", ["y"]), 404),
        (remote(Code.NOT_FOUND, "ERROR_REASON_MEMORY_NOT_FOUND"), 404),
        (VerbNotAllowed("PATCH", ("GET",)), 405),
        (SlowBody(1.0), 408),
        (remote(Code.ALREADY_EXISTS, "ERROR_REASON_PATH_TAKEN"), 409),
        (remote(Code.ABORTED, "ERROR_REASON_VERSION_MISMATCH"), 409),
        (remote(Code.FAILED_PRECONDITION, "ERROR_REASON_REQUEST_ID_REUSED"), 409),
        (BodyTooLarge(10), 413),
        (WrongContentType(), 415),
        (WrongContentCoding(), 415),
        (InvalidRequest.of("wing", "ERROR_REASON_FIELD_REQUIRED", "wing is required."), 422),
        (Overloaded(queue="q", limit=1), 429),
        (RateLimited(100, 3), 429),
        (Cancelled(), 499),
        (InternalError(), 500),
        (Unimplemented(), 501),
        (PeerUnavailable(), 503),
        (TooManyRequests(1), 503),
        (DeadlineExceeded(), 504),
        (remote(Code.RESOURCE_EXHAUSTED, "ERROR_REASON_STORE_FULL"), 507),
    ],
)
def test_every_kind_of_error_has_its_status(error: ServiceError, status: int) -> None:
    assert status == status_of(error) == problem_of(error, "").status
    json.dumps(problem_of(error, "").body)


def test_every_code_but_ok_has_a_status() -> None:
    for code in Code:
        if code is not Code.OK:
            assert 400 <= status_of(remote(code, "ERROR_REASON_X")) <= 599


def test_a_remote_violation_gets_its_parts_from_the_metadata() -> None:
    error = RemoteError(
        "wing is required: set wing.",
        code=Code.INVALID_ARGUMENT,
        reason="ERROR_REASON_FIELD_REQUIRED",
        metadata={"field": "wing", "limit": "required", "remedy": "set wing"},
        violations=[
            Violation("wing", "ERROR_REASON_FIELD_REQUIRED", "wing is required: set wing."),
            Violation("content", "ERROR_REASON_FIELD_REQUIRED", "content is required: set content."),
        ],
    )

    violations: Any = problem_of(error, "t").body["violations"]

    assert [(one["field"], one.get("remedy")) for one in violations] == [
        ("wing", "set wing"),
        ("content", None),
    ]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (rb'{"a":"\ud83d\ude00"}', rb'{"a":"\ud83d\ude00"}'),
        (rb'{"a":"\ud83d"}', rb'{"a":"\u0000d83d"}'),
        (rb'{"a":"\ude00\ud83d x"}', rb'{"a":"\u0000de00\u0000d83d x"}'),
        (rb'{"a":"\\ud83d"}', rb'{"a":"\\ud83d"}'),
        (rb'{"a":"\\\uD83D"}', rb'{"a":"\\\u0000D83D"}'),
        (rb'{"a":"\u0000d83d"}', rb'{"a":"\u0000\u0000d83d"}'),
        (b"[]", b"[]"),
    ],
)
def test_only_halves_of_surrogate_pairs_and_nuls_are_mended_and_all_comes_back(
    frame: bytes, expected: bytes
) -> None:
    assert expected == mend(frame)
    assert json.loads(frame) == restored(json.loads(expected))


@pytest.mark.parametrize(
    ("least", "most"),
    [
        (0, 0),
        (0, 5),
        (1, 1000),
        (0, 100_000),
        (-7, -3),
        (-5, 123),
        (17, 93),
        (99, 101),
        (-(2**63), 2**63 - 1),
    ],
)
def test_the_form_of_whole_numbers_has_those_between_the_bounds_and_no_others(least: int, most: int) -> None:
    form = re.compile(whole_number(least, most))
    near = {bound + step for bound in (0, least, most, 10, 100, 1000) for step in range(-120, 121)}

    assert [n for n in sorted(near) if least <= n <= most] == [
        n for n in sorted(near) if form.fullmatch(str(n))
    ]


@pytest.mark.parametrize(
    ("least", "most"), [("0", "1"), ("-1", "1"), ("0.5", "1"), ("0.3", "0.7"), ("0", "2.5"), ("1.5", "4.2")]
)
def test_the_form_of_decimals_has_those_between_the_bounds_and_no_others(least: str, most: str) -> None:
    low, high = Decimal(least), Decimal(most)
    form = re.compile(decimal(low, high))
    near = [Decimal(n) / 100 for n in range(-300, 600) if n]

    assert [n for n in near if low <= n <= high] == [n for n in near if form.fullmatch(str(n))]
    assert form.fullmatch(f"{high:.4f}")


def test_bounds_that_no_form_keeps_leave_the_check_to_the_server() -> None:
    assert re.fullmatch(decimal(Decimal("0.25"), None), "1000000.125")
    assert re.fullmatch(decimal(Decimal("0.25"), Decimal("0.75")), "0.5")


@requirement("keys:network")
@pytest.mark.parametrize("variable", [f"{PREFIX}_HTTP_ADDRESS", "SATCHEL_METRICS_PROMETHEUS_ADDR"])
def test_an_address_that_others_reach_is_refused_unless_callers_need_a_key(variable: str) -> None:
    reached = {variable: "192.0.2.1:8080"}
    with pytest.raises(SettingsError, match=f"{variable}=192.0.2.1:8080 .*SATCHEL_AUTH_TOKEN"):
        require_guarded(ProcessSettings.load(reached))

    require_guarded(ProcessSettings.load({**reached, "SATCHEL_AUTH_TOKEN": "sk_1"}))
    require_guarded(ProcessSettings.load({**reached, f"{PREFIX}_OPEN_TO_NETWORK": "true"}))


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("ALLOWED_ORIGINS", "app.example"),
        ("ALLOWED_ORIGINS", "https://app.example/path"),
        ("TRUSTED_PROXIES", "proxy.example"),
        ("HTTP_ADDRESS", ":8080"),
    ],
)
def test_what_could_match_no_request_is_refused_at_the_start(variable: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"{PREFIX}_{variable}"):
        load(GatewaySettings, PREFIX, {f"{PREFIX}_{variable}": text})


@requirement("rest:rates")
def test_there_is_no_rate_on_loopback_and_one_elsewhere_unless_it_is_set() -> None:
    elsewhere = GatewaySettings(http_address="192.0.2.1:8080")

    assert (GatewaySettings().request_rate, elsewhere.request_rate) == (0, 600)
    assert replace(elsewhere, requests_per_minute=0).request_rate == 0
    assert GatewaySettings(requests_per_minute=5).request_rate == 5


def test_loopback_is_known_by_name_and_in_both_versions_of_ip() -> None:
    for address in ("localhost:1", "127.0.0.9:1", "[::1]:1"):
        assert GatewaySettings(http_address=address).is_loopback
    with pytest.raises(SettingsError, match="host:port"):
        _ = GatewaySettings(http_address="localhost:none").port


def test_a_path_finds_its_place_and_its_fields() -> None:
    table = RouteTable(load_contract())

    place, fields = table.find("/api/v1/memories/T0:abc") or (None, {})

    assert place is not None
    assert ({"id": "T0:abc"}, {"GET", "PUT", "DELETE"}) == (fields, set(place.routes))
    assert table.find("/api/v1/memories/") is None
    assert table.find("/api/v1/memories/a/b") is None


def test_answers_on_a_kept_connection_do_not_wait_for_acknowledgements() -> None:
    """asyncio sets TCP_NODELAY on a connection only where the listening socket names its protocol."""
    with bind("127.0.0.1", 0) as bound:
        assert bound.proto == socket.IPPROTO_TCP
