"""Immutable values: records (dataclasses that are cheap to make), and frozen lists and mappings.

The type checker enforces ``frozen`` for every record. At run time the guard is left out, because it sets each field of
each new record by a call: a ruling costs six times as much with it, and a replay makes two for every card.
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
        """Make a dataclass that compares and hashes like a frozen one."""
        return dataclass(unsafe_hash=frozen, **options)


def freeze(value: Any) -> Any:
    """Return the value, deeply immutable: read-only mappings, tuples for lists."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    return tuple(map(freeze, value)) if isinstance(value, list | tuple) else value


def thaw(value: Any) -> Any:
    """Return the value as plain dictionaries and lists, as in JSON."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    return [thaw(item) for item in value] if isinstance(value, list | tuple) else value


__all__ = ["freeze", "record", "thaw"]
