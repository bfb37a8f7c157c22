"""The judge of `make pi-camera`."""

from __future__ import annotations

from tests.pi.camera import find_faults
from tests.pi.camera_guest import CHECK, CHECKS


def test_a_check_that_failed_or_did_not_come_is_caught() -> None:
    fine = [f"{CHECK}ok {name}: so" for name in CHECKS]
    assert find_faults(["noise", *fine]) == []
    assert find_faults(fine[1:]) == [f"{CHECKS[0]}: not checked"]
    assert find_faults([*fine[1:], f"{CHECK}fault {CHECKS[0]}: so"]) == [f"fault {CHECKS[0]}: so"]
