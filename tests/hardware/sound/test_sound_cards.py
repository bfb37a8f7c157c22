"""Sound cards by their names, as PortAudio reports them on a Pi."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from hardware.sound.sound_cards import SoundCard, is_on_header, sound_cards
from referee.settings.model import SettingsError, parse_settings

SEATS = "".join(f'[[seat]]\nname = "{name}"\n' for name in ("Ana", "Ben", "Cho", "Dora"))
MOVED = "".join(
    f'[[seat]]\nname = "{name}"\npad = {pad}\nlight = {light}\n'
    for name, pad, light in (("Ana", 4, 22), ("Ben", 5, 23), ("Cho", 6, 24), ("Dora", 12, 25))
)


def library(*names: str) -> SimpleNamespace:
    """Stands for sounddevice: devices that play, and a microphone."""
    told = [{"name": name, "max_output_channels": 2} for name in names]
    told.append({"name": "USB Microphone: - (hw:9,0)", "max_output_channels": 0})
    return SimpleNamespace(query_devices=lambda: told)


def test_usb_comes_first_and_screens_last() -> None:
    found = sound_cards(
        library("vc4-hdmi-0: MAI PCM i2s-hifi-0 (hw:0,0)", "bcm2835 Headphones: - (hw:1,0)", "default", "sysdefault",
                "snd_rpi_hifiberry_dac: HifiBerry DAC HiFi pcm5102a-hifi-0 (hw:3,0)", "USB Audio Device: - (hw:2,0)")
    )  # fmt: skip
    assert [card.kind for card in found] == ["usb", "header", "other", "hdmi"]
    assert found[0] == SoundCard("USB Audio Device: -", "usb"), "numbers change with what is plugged in first"
    assert [card.words for card in found] == ["on USB", "on the header (I2S)", "", "a screen's, on HDMI"]


def test_two_cards_of_one_name_keep_their_numbers() -> None:
    found = sound_cards(library("USB Audio: - (hw:1,0)", "USB Audio: - (hw:2,0)"))
    assert [card.name for card in found] == ["USB Audio: - (hw:1,0)", "USB Audio: - (hw:2,0)"]


def test_no_card_is_no_error() -> None:
    assert sound_cards(library()) == []


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("snd_rpi_hifiberry_dac", True), ("MAX98357A", True), ("my I2S amplifier", True), ("USB Audio", False),
        ("vc4-hdmi-0: MAI PCM i2s-hifi-0 (hw:0,0)", False), ("", False),
    ],
)  # fmt: skip
def test_cards_on_the_header_are_known_by_name(name: str, taken: bool) -> None:
    assert is_on_header(name) == taken


def test_an_i2s_card_and_a_pad_or_light_do_not_share_a_pin() -> None:
    voice = '[voice]\ndevice = "MAX98357A"\n'
    with pytest.raises(SettingsError, match="pin 19 is given to the light of seat 1 and to the sound card on I2S"):
        parse_settings(voice + SEATS)
    pad = MOVED.replace("pad = 12", "pad = 18")
    with pytest.raises(SettingsError, match="pin 18 is given to the pad of seat 4 and to the sound card on I2S"):
        parse_settings(voice + pad)
    assert parse_settings(voice + MOVED).voice.device == "MAX98357A"
    assert parse_settings('[voice]\nenabled = false\ndevice = "MAX98357A"\n' + SEATS), "a card that is not used"
    assert parse_settings(voice + "[lights]\nenabled = false\n" + SEATS), "lights that are not used"
    assert parse_settings('[voice]\ndevice = "USB Audio"\n' + SEATS)
