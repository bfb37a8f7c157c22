"""The appliance's own wireless network: its name and password, and that all its users mean one address."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.image.hotspot import ADDRESS, FILE, Hotspot, keep_hotspot, read_hotspot

IMAGE = Path(__file__).parents[2] / "appliance" / "image" / "etc" / "systemd"


def test_a_network_is_made_once_and_kept(tmp_path: Path) -> None:
    made = keep_hotspot(tmp_path, "02:00:00:00:1a:2b")
    assert made.name == "Table Referee 1a2b"
    assert keep_hotspot(tmp_path, "02:00:00:00:ff:ff") == made
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0, "no other user reads it"
    others = {keep_hotspot(folder, "02:00:00:00:1a:2b").password for folder in _folders(tmp_path, 20)}
    assert len(others) == 20 and all(len(password) == 14 for password in others)


def _folders(tmp_path: Path, many: int) -> list[Path]:
    made = [tmp_path / str(number) for number in range(many)]
    for folder in made:
        folder.mkdir()
    return made


def test_two_devices_at_one_moment_open_one_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link
    first: list[Hotspot] = []

    def late(made: Path, file: Path) -> None:
        """Another process is quicker."""
        monkeypatch.setattr(os, "link", link)
        first.append(keep_hotspot(tmp_path, "02:00:00:00:00:01"))
        link(made, file)

    monkeypatch.setattr(os, "link", late)
    monkeypatch.setattr(os, "getpid", iter((1, 2)).__next__)
    assert keep_hotspot(tmp_path, "02:00:00:00:00:02") == first[0]
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("name: Club \npassword:  sit-down-please\n", Hotspot("Club", "sit-down-please")),
        ("password: sit-down-please\nname: Spiel & Spaß\nmore: x\n", Hotspot("Spiel & Spaß", "sit-down-please")),
        ("name: Club\npassword: short\n", None),
        ("name: Club\npassword: Übergrößenträger\n", None),
        (f"name: {'x' * 33}\npassword: sit-down-please\n", None),
        ("name:\npassword: sit-down-please\n", None),
        ("", None),
    ],
)
def test_what_people_wrote_down_is_taken_where_it_is_a_network(text: str, found: Hotspot | None) -> None:
    assert read_hotspot(text) == found


def test_what_is_no_network_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    made = keep_hotspot(tmp_path, "02:00:00:00:1a:2b")
    assert read_hotspot((tmp_path / FILE).read_text(encoding="utf-8")) == made


def test_a_name_of_any_letters_is_told_as_its_bytes() -> None:
    name = 'Spaß "}'
    told = Hotspot(name, "sit-down-please").configuration
    assert f"\tssid={name.encode().hex()}\n" in told
    assert '\tpsk="sit-down-please"\n' in told and told.count("}") == 1


def test_all_mean_the_same_address() -> None:
    network = (IMAGE / "network" / "70-hotspot.network").read_text(encoding="utf-8")
    assert f"Address={ADDRESS}/24\n" in network and f"DNS={ADDRESS}\n" in network
    assert f"DNSStubListenerExtra={ADDRESS}\n" in (IMAGE / "resolved.conf.d" / "hotspot.conf").read_text(
        encoding="utf-8"
    )
    assert f"http://{ADDRESS}:8080" in Hotspot("Club", "sit-down-please").words
