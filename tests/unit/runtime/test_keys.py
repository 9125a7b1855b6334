import json

import pytest

from requirements import requirement
from satchel.api.options.v1 import options_pb2
from satchel.runtime.keys import Key, KeyRing, KeySettings, Principal, load_keys
from satchel.runtime.settings import Secret, SettingsError

TOKEN = "sk_0123456789abcdef"  # noqa: S105  # of a test


def ring(*keys: Key, token: str = TOKEN) -> KeyRing:
    return KeyRing(KeySettings(Secret(token), keys))


@requirement("keys:rights")
def test_a_token_may_do_everything_and_a_key_what_its_right_includes() -> None:
    keys = ring(
        Key("reports", Secret("sk_read")), Key("crawler", Secret("sk_write"), "write", projects=("web",))
    )

    assert keys.identify(f"Bearer {TOKEN}") == Principal("owner", options_pb2.ACCESS_ADMIN)
    assert keys.identify("Bearer sk_read") == Principal("reports", options_pb2.ACCESS_READ)
    assert keys.identify("bearer  sk_write") == Principal(
        "crawler", options_pb2.ACCESS_WRITE, projects=frozenset({"web"})
    )


@requirement("keys:asked-for")
@pytest.mark.parametrize(
    "sent",
    [
        "",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer{TOKEN}",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
    ],
)
def test_only_a_known_token_behind_the_word_bearer_is_somebody(sent: str) -> None:
    assert ring().identify(sent) is None


def test_without_keys_nobody_is_known_and_nobody_has_to_be() -> None:
    empty = KeyRing()

    assert (bool(empty), empty.identify("Bearer "), KeySettings().are_set) == (False, None, False)


def test_keys_are_read_from_variables() -> None:
    keys = [{"name": "ci", "token": "sk_ci", "right": "write", "may_delete": False, "projects": ["a", "b"]}]

    found = load_keys({"SATCHEL_AUTH_TOKEN": TOKEN, "SATCHEL_KEYS": json.dumps(keys)})

    assert found.keys == (Key("ci", Secret("sk_ci"), "write", may_delete=False, projects=("a", "b")),)
    assert found.auth_token.reveal() == TOKEN


@requirement("config:secrets")
@pytest.mark.parametrize(
    "variables",
    [
        {"SATCHEL_AUTH_TOKEN": "hunter2 hunter2"},
        {"SATCHEL_AUTH_TOKEN": "hunter2é"},
        {"SATCHEL_KEYS": '[{"name": "a", "token": "hunter2 "}]'},
        {"SATCHEL_KEYS": '[{"name": "a", "token": "hunter2", "colour": "red"}]'},
        {"SATCHEL_KEYS": '[{"name": "", "token": "hunter2"}]'},
        {"SATCHEL_KEYS": '[{"name": "a", "token": "hunter2", "right": "fly"}]'},
        {"SATCHEL_KEYS": '[{"name": "a", "token": "hunter2"'},
        {"SATCHEL_KEYS": '[{"name": "a", "token": "hunter2", "right": "admin", "projects": ["x"]}]'},
        {"SATCHEL_KEYS": '[{"name": "a", "token": "hunter2"}, {"name": "b", "token": "hunter2"}]'},
        {"SATCHEL_AUTH_TOKEN": "hunter2", "SATCHEL_KEYS": '[{"name": "b", "token": "hunter2"}]'},
        {"SATCHEL_KEYS": "hunter2"},
    ],
)
def test_keys_that_cannot_be_used_are_refused_without_their_tokens(variables: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load_keys(variables)

    assert "hunter2" not in f"{caught.value} {caught.value!r} {caught.value.problems}"


@requirement("config:secrets")
def test_no_token_shows_in_a_repr() -> None:
    settings = KeySettings(Secret("hunter2"), (Key("a", Secret("hunter3")),))

    shown = f"{settings!r} {KeyRing(settings)!r} {vars(KeyRing(settings))}"
    assert ("hunter2" in shown, "hunter3" in shown) == (False, False)


@requirement("keys:inside")
def test_services_call_each_other_with_their_own_key_or_that_of_the_installation() -> None:
    settings = KeySettings(Secret(TOKEN))

    assert settings.for_peers(Secret("sk_own")) == Secret("sk_own")
    assert settings.for_peers(None) == settings.for_peers(Secret("")) == Secret(TOKEN)
    assert KeySettings().for_peers(None) is None
    with pytest.raises(SettingsError, match="SATCHEL_AUTH_TOKEN"):
        KeySettings(keys=(Key("a", Secret("b")),)).for_peers(None)
