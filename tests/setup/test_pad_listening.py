"""The wizard's key detection: keys that are held together, as far as a keyboard reports them."""

from __future__ import annotations

from referee.setup.pad_listening import keys_held_together
from tests.support.keyboards import FakeKeyboard, FakeKeyboards


def test_keys_that_are_down_together() -> None:
    keyboard = FakeKeyboard("Keys")
    keyboard.answer(1, a=1, s=1, d=1)
    places = ["key:a@Keys", "key:s", "key:d@Keys"]
    assert keys_held_together(places, 5, FakeKeyboards(keyboard)) == tuple(places)


def test_a_key_that_is_swallowed_is_not_among_them() -> None:
    keyboard = FakeKeyboard("Keys")
    keyboard.answer(1, a=1, s=1)
    assert keys_held_together(["key:a", "key:d", "key:s"], 0, FakeKeyboards(keyboard)) == ("key:a", "key:s")
