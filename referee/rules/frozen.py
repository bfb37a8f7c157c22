"""What nobody changes: records (dataclasses that cost little to make), and values made of lists and mappings.

The type checker holds every record to ``frozen``. At run time that guard is left out, for it would make each field of
each new record go through a call: a ruling costs six times as much with it, and a replay makes two for every card.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    Class = TypeVar("Class", bound=type)

    def record(*, frozen: bool, **options: Any) -> Callable[[Class], Class]:
        """A dataclass that compares and hashes as a frozen one does."""
        return dataclass(unsafe_hash=frozen, **options)


def freeze(value: Any) -> Any:
    """The same value, as deep as it goes unchangeable: mappings that can only be read, tuples for lists."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    return tuple(map(freeze, value)) if isinstance(value, list | tuple) else value


def thaw(value: Any) -> Any:
    """The same value of plain dictionaries and lists, as JSON has them."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    return [thaw(item) for item in value] if isinstance(value, list | tuple) else value


__all__ = ["freeze", "record", "thaw"]
