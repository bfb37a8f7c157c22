"""The card's settings: what Raspberry Pi Imager writes is read, and becomes the machine's configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.image import card, hotspot
from tools.image.card import Refusal, add_user, apply_settings, join_network, propose_language, read_card, read_script

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/build.md").read_text(encoding="utf-8")
CABLE = ROOT / "appliance/image/etc/systemd/network/80-table.network"
GROUP = 999
KEY = "5a" * 32
NET = "Ana's net"
HASH = "$5$salt$0123456789"
IMAGER = "/usr/lib/raspberrypi-sys-mods/imager_custom"
WITHOUT_IMAGER = """\
   echo club >/etc/hostname
cat >/etc/wpa_supplicant/wpa_supplicant.conf <<'WPAEOF'
network={
	ssid="another"
}
WPAEOF
"""
END = "rm -f /boot/firstrun.sh\nsed -i 's| systemd.run.*||g' /boot/cmdline.txt\nexit 0\n"


def script(*commands: str) -> str:
    """Return a script as Imager writes it: each setting in both ways, of which the system has one."""
    both = "".join(f"if [ -f {IMAGER} ]; then\n   {command}\nelse\n{WITHOUT_IMAGER}fi\n" for command in commands)
    return f"#!/bin/sh\n\nset +e\n\n{both}{END}"


WHOLE = script(
    f"{IMAGER} set_hostname club",
    f"{IMAGER} enable_ssh -k 'ssh-ed25519 AAAA ana'\"'\"'s key'",
    f"/usr/lib/userconf-pi/userconf 'ana' '{HASH}'",
    f"{IMAGER} set_wlan  -h 'Ana'\"'\"'s net' '{KEY}' 'DE'",
    f"{IMAGER} set_keymap 'de'",
    f"{IMAGER} set_timezone 'Europe/Berlin'",
)
TABLES: card.Tables = {
    "system": {"hostname": "club"},
    "user": {"name": "ana", "password": HASH, "password_encrypted": True},
    "wlan": {"ssid": NET, "password": KEY, "country": "DE", "hidden": True},
    "locale": {"keymap": "de", "timezone": "Europe/Berlin"},
}


def test_imagers_script_is_read_and_the_rest_of_it_left() -> None:
    assert read_script(WHOLE) == TABLES


def test_a_script_without_settings_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "firstrun.sh").write_text(script())
    assert read_card(tmp_path) == {} == read_card(tmp_path / "nothing")


def test_an_open_network_has_no_key() -> None:
    tables = read_script(script(f"{IMAGER} set_wlan 'Club' '' 'GB'"))
    made = join_network(tables, CABLE.read_text())[card.WIRELESS]
    assert made.text == f"country=GB\nnetwork={{\n\tssid={b'Club'.hex()}\n\tkey_mgmt=NONE\n}}\n"


@pytest.mark.parametrize("name", ["custom.toml", "rpi-preseed.toml"])
def test_tables_on_the_card_are_read(name: str, tmp_path: Path) -> None:
    text = "".join(
        f"[{table}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        for table, keys in TABLES.items()
    )
    (tmp_path / name).write_text(f'config_version = "1.0"\n{text}[ssh]\nenabled = true\n')
    (tmp_path / "firstrun.sh").write_text(script(f"{IMAGER} set_hostname other"))
    assert {key: table for key, table in read_card(tmp_path).items() if key != "ssh"} == TABLES


def test_the_example_in_the_guide_is_taken(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(\[system\]\n.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "custom.toml").write_text(example)
    refused, names = applied(read_card(tmp_path), tmp_path)
    assert (refused, names) == ([], ["club"])
    assert all((tmp_path / "run" / name).exists() for name in (card.WIRELESS, "userdb/ana.user"))


@pytest.mark.parametrize("content", [b"[wlan\n", b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "custom.toml").write_bytes(content)
    with pytest.raises(Refusal, match=r"custom\.toml cannot be read"):
        read_card(tmp_path)


def test_the_network_is_joined_by_the_key_alone_and_found_where_it_hides() -> None:
    made = join_network(TABLES, CABLE.read_text())
    wireless = made[card.WIRELESS]
    assert wireless.text == (
        f"country=DE\nnetwork={{\n\tssid={NET.encode().hex()}\n\tkey_mgmt=WPA-PSK\n\tpsk={KEY}\n\tscan_ssid=1\n}}\n"
    )
    assert wireless.mode == 0o600
    assert Path("/run", card.WIRELESS) == hotspot.JOINED


def test_a_password_in_plain_text_joins_wpa3_too() -> None:
    made = join_network({"wlan": {"ssid": "Spaß", "password": 'sit "down" please'}}, CABLE.read_text())
    assert made[card.WIRELESS].text == (
        f"network={{\n\tssid={'Spaß'.encode().hex()}\n\tkey_mgmt=WPA-PSK SAE\n\tieee80211w=1\n"
        '\tpsk="sit "down" please"\n}\n'
    )


def test_a_joined_network_is_like_the_cable_and_comes_before_the_own_one() -> None:
    (name,) = (name for name in join_network(TABLES, CABLE.read_text()) if name.endswith(".network"))
    text = join_network(TABLES, CABLE.read_text())[name].text
    # The own network may take its place (`tools.image.fallback`), and then has another address.
    assert "Type=wlan\nWLANInterfaceType=station\n" in text and "Type=ether" not in text
    assert "DHCP=yes" in text and "MulticastDNS=yes" in text
    assert Path(name).name < min(file.name for file in CABLE.parent.glob("*.network"))


def test_the_user_may_log_in_and_the_password_is_secret() -> None:
    made = add_user(TABLES, GROUP, encrypt=str.upper)
    record = json.loads(made["userdb/ana.user"].text)
    assert (record["userName"], record["gid"], record["disposition"]) == ("ana", GROUP, "regular")
    assert record["uid"] >= 1000
    assert made[f"userdb/{record['uid']}.user"] == made["userdb/ana.user"]
    secret = made["userdb/ana.user-privileged"]
    assert json.loads(secret.text) == {"privileged": {"hashedPassword": [HASH]}} and secret.mode == 0o600
    assert all(HASH not in entry.text for entry in made.values() if entry.mode != 0o600)


def test_a_password_in_plain_text_is_encrypted() -> None:
    tables: card.Tables = {"user": {"name": "ana", "password": "slap"}}
    assert json.loads(add_user(tables, GROUP, str.upper)["userdb/ana.user-privileged"].text) == {
        "privileged": {"hashedPassword": ["SLAP"]}
    }


@pytest.mark.parametrize(
    ("layout", "language"), [("de", "de"), ("ch-fr", "de"), ("fr", "fr"), ("latam", "es"), ("gb", None), ("us", None)]
)
def test_the_keyboard_proposes_the_language(layout: str, language: str | None) -> None:
    entries = propose_language({"locale": {"keymap": layout}})
    assert [entry.text for entry in entries.values()] == ([f"LC_MESSAGES={language}\n"] if language else [])


def applied(tables: card.Tables, folder: Path) -> tuple[Sequence[str], list[str]]:
    """Apply settings below a folder; return the words about what was refused, and the machine's names."""
    zones = folder / "zones"
    (zones / "Europe").mkdir(parents=True)
    (zones / "Europe" / "Berlin").write_text("")
    names: list[str] = []
    return apply_settings(tables, folder / "run", names.append, group=GROUP, zones=zones, cable=CABLE), names


def test_all_settings_are_applied(tmp_path: Path) -> None:
    refused, names = applied(TABLES, tmp_path)
    assert (refused, names) == ([], ["club"])
    run = tmp_path / "run"
    assert (run / "table-referee-card/localtime").resolve() == tmp_path / "zones/Europe/Berlin"
    assert (run / card.WIRELESS).stat().st_mode & 0o077 == 0
    assert (run / "userdb/ana.user-privileged").stat().st_mode & 0o077 == 0
    assert (run / "table-referee-card/environment").read_text() == "LC_MESSAGES=de\n"


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("system", "hostname", "a club"), ("system", "hostname", "-club"), ("system", "hostname", 7),
        ("user", "name", "Ana"), ("user", "name", "../ana"), ("user", "name", ""),
        ("wlan", "ssid", "x" * 33), ("wlan", "password", "short"), ("wlan", "password", "sit\ndown\nplease"),
        ("wlan", "country", "Germany"),
        ("locale", "timezone", "../../etc/shadow"), ("locale", "timezone", "Europe/Nowhere"),
        ("locale", "keymap", "de; reboot"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_used_is_told_and_the_others_count(
    table: str, key: str, value: object, tmp_path: Path
) -> None:
    tables: card.Tables = {**TABLES, table: {**TABLES[table], key: value}}
    (refused,), names = applied(tables, tmp_path)
    assert key in refused and f"[{table}]" in refused
    assert names == ([] if table == "system" else ["club"])
    assert (tmp_path / "run" / card.WIRELESS).exists() == (table != "wlan")
    assert (tmp_path / "run/userdb/ana.user").exists() == (table != "user")


def test_the_service_starts_for_each_file_that_is_read_and_before_the_network() -> None:
    unit = (ROOT / "appliance/image/etc/systemd/system/table-referee-card.service").read_text()
    assert re.findall(r"^ConditionPathExists=\|/efi/(\S+)$", unit, flags=re.MULTILINE) == list(card.FILES)
    assert "Before=network-pre.target" in unit
