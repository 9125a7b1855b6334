"""Which addresses are served, by the options of `up` and `server`."""

from pathlib import Path

import pytest

from requirements import requirement
from satchel.cli.actions.server import METRICS_ADDRESS, configured, listeners_of
from satchel.cli.actions.serving import Everything, Listener, joined
from satchel.cli.configuration.loading import Configuration
from satchel.cli.exits import CommandError
from satchel.cli.place import Place
from satchel.gateway.settings import ProcessSettings
from satchel.runtime.keys import KeySettings
from satchel.runtime.settings import Secret, Values

GUARDED = ProcessSettings(keys=KeySettings(Secret("sk_1")))


def place(**variables: str) -> Place:
    return Place(Path(), configuration=Configuration(Values(variables)))


def served(here: Place, texts: dict[str, str], *switches: str) -> list[Listener]:
    values = configured(here, texts, dict.fromkeys(switches, True))
    return joined(listeners_of(values, ProcessSettings.load(values)))


@requirement("cli:server")
def test_without_options_only_metrics_have_an_address_which_may_be_taken() -> None:
    assert served(place(), {}) == [
        Listener("--prometheus-addr", METRICS_ADDRESS, metrics=True, optional=True)
    ]
    assert served(place(), {}, "--no-metrics") == []


@requirement("cli:server")
@pytest.mark.parametrize("transport", ["sse", "http"])
def test_mcp_rest_and_metrics_have_the_addresses_of_their_options(transport: str) -> None:
    texts = {
        "--transport": transport,
        "--mcp-addr": "127.0.0.1:4001",
        "--api-addr": "127.0.0.1:4002",
        "--prometheus-addr": "127.0.0.1:4003",
    }

    assert served(place(), texts, "--with-api") == [
        Listener("--api-addr", "127.0.0.1:4002", rest=True),
        Listener("--mcp-addr", "127.0.0.1:4001", mcp=True),
        Listener("--prometheus-addr", "127.0.0.1:4003", metrics=True),
    ]


@requirement("cli:server")
def test_rest_is_served_when_an_option_or_the_configuration_asks_for_it() -> None:
    def has_rest(here: Place, *switches: str) -> bool:
        return any(one.rest for one in served(here, {}, *switches))

    assert not has_rest(place())
    assert has_rest(place(), "--with-api")
    assert has_rest(place(SATCHEL_GATEWAY_REST="true"))
    assert not has_rest(place(SATCHEL_GATEWAY_REST="false"))


@requirement("cli:server", "keys:network")
def test_an_address_without_a_host_is_every_address_only_with_a_token() -> None:
    texts = {"--transport": "http", "--mcp-addr": ":4001"}

    def address(here: Place, **more: str) -> str:
        return next(one.address for one in served(here, {**texts, **more}) if one.mcp)

    assert address(place()) == "127.0.0.1:4001"
    assert address(place(SATCHEL_AUTH_TOKEN="sk_1")) == "0.0.0.0:4001"  # noqa: S106  # of a test
    assert address(place(), **{"--api-token": "sk_1"}) == "0.0.0.0:4001"


@requirement("cli:server")
def test_the_other_options_set_what_they_name() -> None:
    texts = {"--api-token": "sk_1", "--llm-endpoint": "http://h:1"}
    values = configured(place(), texts, {"--with-soul": True, "--with-llm": True, "--no-metrics": False})

    assert dict(values) == {
        "SATCHEL_AUTH_TOKEN": "sk_1",
        "SATCHEL_STORE_LLM_ENDPOINT": "http://h:1",
        "SATCHEL_SOUL_ENABLED": "true",
        "SATCHEL_STORE_LLM_ENABLED": "true",
    }
    assert values.origin("SATCHEL_SOUL_ENABLED").name == "--with-soul"


def test_listeners_of_one_address_are_one() -> None:
    rest = Listener("--a", "127.0.0.1:1", rest=True)
    metrics = Listener("--b", "127.0.0.1:1", metrics=True, optional=True)
    free = Listener("--c", "127.0.0.1:0", mcp=True)

    assert joined([rest, metrics, free, free]) == [
        Listener("--a", "127.0.0.1:1", rest=True, metrics=True),
        free,
        free,
    ]


@requirement("keys:network")
def test_no_address_that_others_reach_is_served_without_keys() -> None:
    open_ = [Listener("--http", "0.0.0.0:1", rest=True)]

    with pytest.raises(CommandError, match=r"--http 0\.0\.0\.0:1 .*SATCHEL_AUTH_TOKEN"):
        Everything(ProcessSettings(), {}, open_)
    with pytest.raises(CommandError, match="--grpc"):
        Everything(ProcessSettings(), {}, [], "0.0.0.0:1")
    Everything(GUARDED, {}, open_, "0.0.0.0:1")


@requirement("rest:rates")
def test_one_address_that_others_reach_brings_a_rate_to_all() -> None:
    here, there = Listener("--a", "127.0.0.1:1", rest=True), Listener("--b", "0.0.0.0:2", mcp=True)

    assert Everything(GUARDED, {}, [here]).gateway_settings.request_rate == 0
    assert Everything(GUARDED, {}, [here, there]).gateway_settings.request_rate == 600
