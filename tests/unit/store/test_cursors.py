import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.store.cursors import _seal, decode_token, encode_token
from satchel.store.errors import PageTokenMismatch
from satchel.store.scope import Place

places = st.builds(Place, st.integers(-(2**62), 2**62), st.text(max_size=40))


@given(places, st.binary(max_size=64))
def test_a_token_gives_its_place_back(place: Place, arguments: bytes) -> None:
    token = encode_token(place, arguments)

    assert decode_token(token, arguments) == place
    assert token.replace("-", "").replace("_", "").isalnum()


@given(places, st.binary(max_size=64), st.binary(max_size=64))
def test_a_token_of_another_listing_is_refused(place: Place, arguments: bytes, others: bytes) -> None:
    token = encode_token(place, arguments)
    if arguments != others:
        with pytest.raises(PageTokenMismatch):
            decode_token(token, others)


@given(places, st.data())
def test_a_damaged_token_is_refused(place: Place, data: st.DataObject) -> None:
    token = encode_token(place, b"list")
    at = data.draw(st.integers(0, len(token) - 2))  # the last character may hold padding bits
    other = "A" if token[at] != "A" else "B"

    with pytest.raises(PageTokenMismatch):
        decode_token(token[:at] + other + token[at + 1 :], b"list")


@given(st.text(max_size=80))
def test_anything_that_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(PageTokenMismatch):
        decode_token(text, b"list")


@given(st.sampled_from([b"[1,2]", b"1", b'[1,"a","b"]', b"[1,2,3]", b'[1,true,"b"]', b"{", b"\xff",
                        b'[2,1,"b"]', b'[1,9223372036854775808,"b"]', b"[" * 600]))  # fmt: skip
def test_a_forged_token_with_the_right_checksum_is_refused(payload: bytes) -> None:
    token = base64.urlsafe_b64encode(_seal(payload, b"list") + payload).decode().rstrip("=")

    with pytest.raises(PageTokenMismatch):
        decode_token(token, b"list")
