"""Records: dataclasses that nobody changes, and that cost little to make.

The type checker holds every record to ``frozen``. At run time that guard is left out, for it would make each field of
each new record go through a call: a ruling costs six times as much with it, and a replay makes two for every card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    Class = TypeVar("Class", bound=type)

    def record(*, frozen: bool, **options: Any) -> Callable[[Class], Class]:
        """A dataclass that compares and hashes as a frozen one does."""
        return dataclass(unsafe_hash=frozen, **options)


__all__ = ["record"]
