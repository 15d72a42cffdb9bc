"""Runner credentials."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from boardreadyops.config import Secret
from boardreadyops.runner.credentials import lease_of, lease_token, new_token, token_digest

KEY = Secret("a secret key of at least thirty-two characters")
OTHER_KEY = Secret("another secret key of thirty-two characters or more")


def test_tokens_are_256_bits_and_never_the_same() -> None:
    tokens = {new_token("bre_").reveal() for _ in range(100)}
    assert len(tokens) == 100
    assert all(token.startswith("bre_") and len(token) == 4 + 43 for token in tokens)


def test_what_is_stored_is_the_sha256_of_the_whole_token() -> None:
    assert token_digest(Secret("brr_x")) == sha256(b"brr_x").digest()


def test_a_token_never_prints() -> None:
    token = new_token("brr_")
    assert token.reveal() not in f"{token} {token!r} {[token]}"


def test_a_lease_token_can_be_made_again_and_names_its_lease() -> None:
    lease_id = uuid4()
    token = lease_token(KEY, lease_id)
    assert token == lease_token(KEY, lease_id)
    assert lease_of(KEY, token.reveal()) == lease_id


def test_a_lease_token_of_another_key_opens_nothing() -> None:
    assert lease_of(OTHER_KEY, lease_token(KEY, uuid4()).reveal()) is None


def test_another_spelling_of_a_lease_token_opens_nothing() -> None:
    text = lease_token(KEY, UUID(int=0xABC)).reveal()
    for other in (text.upper(), text.removeprefix("brl_"), f"{text} ", text.replace("-", ""), text[:-1]):
        assert lease_of(KEY, other) is None


@given(st.text(max_size=300))
def test_text_from_anywhere_is_no_lease_token_and_no_error(text: str) -> None:
    assert lease_of(KEY, text) is None
    assert lease_of(KEY, f"brl_{text}") is None


@given(st.uuids(), st.integers(min_value=0), st.characters(codec="ascii"))
def test_a_lease_token_with_one_changed_character_opens_nothing(
    lease_id: UUID, place: int, mark: str
) -> None:
    text = lease_token(KEY, lease_id).reveal()
    place %= len(text)
    changed = text[:place] + mark + text[place + 1 :]
    assert (lease_of(KEY, changed) is None) == (changed != text)
