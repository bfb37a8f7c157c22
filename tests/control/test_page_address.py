"""The page's address: for this machine, for phones, and where the configured port is taken."""

from __future__ import annotations

import socket

import pytest

from referee.control.page_address import ALONE, NO_NETWORK, listen_at, page_address
from referee.errors import UserError


@pytest.mark.parametrize(
    ("host", "network", "room", "why"),
    [
        ("127.0.0.1", "192.168.1.7", "", ALONE),
        ("0.0.0.0", "192.168.1.7", "http://192.168.1.7:8080/", ""),
        ("0.0.0.0", "", "", NO_NETWORK),
        ("0.0.0.0", "127.0.1.1", "", NO_NETWORK),
        ("10.0.0.3", "192.168.1.7", "http://10.0.0.3:8080/", ""),
        ("fd00::5", "", "http://[fd00::5]:8080/", ""),
    ],
)
def test_phones_are_told_what_they_can_reach_or_why_not(host: str, network: str, room: str, why: str) -> None:
    address = page_address(host, 8080, lambda: network)
    assert (address.room, address.why) == (room, why)
    assert address.here == ("http://localhost:8080/" if host in ("127.0.0.1", "0.0.0.0") else room)
    assert (address.room or address.why) in str(address)


def test_the_next_port_is_taken_where_any_will_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match="try another --port"):
            listen_at("127.0.0.1", port)
        with listen_at("127.0.0.1", port, any_near=True) as other:
            assert port < other.getsockname()[1] <= port + 10


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(UserError, match=r"192\.0\.2\.1:8080"):
        listen_at("192.0.2.1", 8080, any_near=True)
