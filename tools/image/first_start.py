"""People's actions at an image's first start: a phone finds the table's network, and answers its questions.

For `tools.image.image_check`. The phone that joins the network lives in the virtual machine itself, as a second
simulated radio (mac80211_hwsim) in its own network namespace; the phone that answers is this machine.
"""

from __future__ import annotations

import base64
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Final

from tools.image.guest import Guest, Stuck

NAME: Final = "localhost:8080"
"""Host name in requests to the page, which answers to the guest's own names alone."""
_CODE: Final = re.compile(r"paired with the code ([\d ]+?) *\(")
_ANSWERS: Final[Mapping[str, str]] = {
    "seats.names": "Ana, Ben", "hands.kind": "phone", "camera.source": "skip", "voice.enabled": "yes",
    "voice.language": "de",
    "voice.heard": "yes", "voice.quiet": "none", "rules.preset": "classic", "slaps.again": "on", "deal.begin": "begin",
}  # fmt: skip
"""Answers by the question's id; all other questions get their default."""
_PACE: Final = 1.0
_PHONE: Final = """
import json, random, socket, struct, urllib.request
pipe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
pipe.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
pipe.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"wlan1")
pipe.bind(("0.0.0.0", 68))
pipe.settimeout(5)
own = bytes.fromhex(open("/sys/class/net/wlan1/address").read().strip().replace(":", ""))
call = struct.pack("!BBBBIHH16x16s192xI", 1, 1, 6, 0, random.getrandbits(32), 0, 0x8000, own, 0x63825363)
for again in range(12):
    pipe.sendto(call + bytes([53, 1, 1, 255]), ("255.255.255.255", 67))
    try:
        offer = pipe.recv(1500)
    except TimeoutError:
        continue
    print("offered", socket.inet_ntoa(offer[16:20]), "router" if b"\\x03\\x04" in offer[240:] else "no router")
    break
"""
"""Requests an address as a phone does."""


class Phone:
    """A phone that opens the page of a guest."""

    def __init__(self, port: int) -> None:
        self._base, self._headers = f"http://127.0.0.1:{port}", {"Host": NAME}

    def get(self, path: str) -> tuple[int, str]:
        """Get a page; return its status (0 without an answer) and its text."""
        return self._ask(urllib.request.Request(self._base + path, headers=self._headers))

    def post(self, path: str, **fields: Any) -> dict[str, Any]:
        """Post a change to the table; return the answer."""
        headers = {**self._headers, "Origin": f"http://{NAME}", "Content-Type": "application/json"}
        asked = urllib.request.Request(self._base + path, json.dumps(fields).encode(), headers)
        answer: dict[str, Any] = json.loads(self._ask(asked)[1] or "{}")
        if answer.get("csrf"):
            self._headers["X-CSRF-Token"] = answer["csrf"]
        return answer

    def _ask(self, asked: urllib.request.Request) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                if cookie := answer.headers.get("Set-Cookie"):
                    self._headers["Cookie"] = cookie.partition(";")[0]
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""


def answer_questions(port: int, screen: Callable[[], str], seconds: float) -> list[str]:
    """Pair with the code on the screen, and answer until the game begins; return the ids of the questions.

    Args:
        port: of the page.
        screen: returns the text on the machine's screen.
        seconds: within which the game must begin.

    Raises:
        Stuck: no code was shown, or the questions did not end.
    """
    phone, until = Phone(port), time.monotonic() + seconds
    asked: list[str] = []
    while not phone.post("/api/pair", code=_code(screen()), device="a phone").get("accepted"):
        _wait(until, "a code that is taken")
    while True:
        state = json.loads(phone.get("/wizard.json")[1] or "{}")
        if state.get("over"):
            return asked
        question = state.get("question")
        if question is None:
            if state.get("doing") == "slaps":
                phone.post("/api/wizard", say="leave")
            _wait(until, f"the question after {asked[-1:]}")
            continue
        asked.append(question["id"])
        answer = _ANSWERS.get(question["id"]) or question["default"] or "no"
        if not phone.post("/api/wizard", say=answer).get("accepted"):
            _wait(until, f"an answer to {question['id']}, which is not {answer!r}")


def _code(console: str) -> str:
    shown = _CODE.findall(console)
    return shown[-1].replace(" ", "") if shown else "000000"


def _wait(until: float, what: str) -> None:
    if time.monotonic() > until:
        raise Stuck(f"{what} did not come")
    time.sleep(_PACE)


_CARRY_OFF: Final = (
    "systemctl stop table-referee-fallback@wlan1 table-referee-hotspot@wlan1; ip netns add phone; "
    "iw phy $(cat /sys/class/net/wlan1/phy80211/name) set netns name phone"
)
"""Takes the second radio away from the table."""
_SUPPLICANT: Final = "ip netns exec phone wpa_supplicant -B -P /tmp/radio.pid -i wlan1 -c"
_JOIN: Final = (
    f"{_SUPPLICANT} /tmp/phone.conf; until ip netns exec phone iw dev wlan1 link | grep -q Connected; do sleep 1; done"
)
_SWITCH_OFF: Final = "kill $(cat /tmp/radio.pid); while [ -e /tmp/radio.pid ]; do sleep 1; done"
_CARD: Final = '[wlan]\nssid = "Club"\npassword = "sit-down-please"\n'
_ROUTER: Final = 'network={{\n ssid="Club"\n mode=2\n frequency=2412\n key_mgmt=WPA-PSK\n psk="{}"\n}}\n'
_SOONER: Final = "[Service]\nExecStart=\nExecStart=/usr/local/sbin/table-referee-fallback %I 120 30\n"
"""The service makes its further attempts sooner here."""


def _write(path: str, text: str) -> str:
    """Return the command that writes a file."""
    return f"mkdir -p {path.rpartition('/')[0]}; echo {base64.b64encode(text.encode()).decode()} | base64 -d > {path}"


def _station(kept: str) -> str:
    """Return a phone's configuration, from the file that keeps the table's own network."""
    said = dict(re.findall(r"^(name|password): (.*)$", kept, flags=re.MULTILINE))
    return f'network={{\n ssid="{said.get("name")}"\n psk="{said.get("password")}"\n}}\n'


def fall_back(guest: Guest, tell: Callable[[str, bool, str], None], seconds: float) -> None:
    """Check that the table opens its own network while the card's password is wrong, and joins once it is right."""
    if guest.run("modprobe -n mac80211_hwsim")[0]:
        tell("a wrong password", False, "this kernel simulates no radios")
        return
    own = "iw dev wlan0 info | grep -q 'type AP' && ip -4 addr show dev wlan0 | grep -q 10.83.0.1/"
    _, words = guest.run(
        f"{_write('/efi/custom.toml', _CARD)}; {_write('/tmp/router.conf', _ROUTER.format('another password'))}; "
        f"{_write('/run/systemd/system/table-referee-fallback@.service.d/sooner.conf', _SOONER)}; "
        "systemctl daemon-reload; systemctl restart table-referee-card; networkctl reload; "
        "modprobe mac80211_hwsim radios=2; "
        "until systemctl -q is-active table-referee-fallback@wlan0; do sleep 1; done; "
        "until systemctl -q is-active table-referee-fallback@wlan1; do sleep 1; done; "
        f"{_CARRY_OFF}; {_SUPPLICANT} /tmp/router.conf; began=$(cut -d. -f1 /proc/uptime); "
        f"until {own}; do sleep 1; done; echo after $(($(cut -d. -f1 /proc/uptime) - began)) s", seconds,
    )  # fmt: skip
    opened = re.search(r"after (\d+) s", words)
    told = guest.run("runuser -u table-referee ls /run/table-referee-fallback/wlan0")[1].strip()
    tell("a wrong password: the table opens its own network", opened is not None and told == "open",
         opened[0] if opened else words[-200:])  # fmt: skip
    phone = _write("/tmp/phone.conf", _station(guest.run("cat /etc/table-referee/hotspot.txt")[1]))
    attempts = "journalctl -o cat -u table-referee-fallback@wlan0 | grep 'not joined yet'"
    _, words = guest.run(
        f"{_SWITCH_OFF}; {phone}; {_JOIN}; {attempts} > /tmp/before; sleep 90; {attempts} > /tmp/after; "
        f"cmp /tmp/before /tmp/after && {own} && echo stays", seconds,
    )  # fmt: skip
    stays = "stays" in words
    tell("it stays open while a phone is in it", stays, "three times the wait" if stays else words.strip()[-200:])
    right = _write("/tmp/router.conf", _ROUTER.format("sit-down-please"))
    _, words = guest.run(
        f"{_SWITCH_OFF}; {right}; {_SUPPLICANT} /tmp/router.conf; "
        "until [ $(cat /sys/class/net/wlan0/operstate) = up ] && [ ! -e /run/table-referee-fallback/wlan0 ]; "
        "do sleep 1; done; iw dev wlan0 link; ip -4 addr show dev wlan0", seconds,
    )  # fmt: skip
    joined = "SSID: Club" in words and "10.83.0.1" not in words
    tell("and joins the written one once it answers", joined, "Club" if joined else words.strip()[-200:])
    guest.run(
        "rm -r /efi/custom.toml /run/table-referee-card/wireless.conf /run/systemd/network/60-card.network "
        "/run/systemd/system/table-referee-fallback@.service.d; systemctl daemon-reload; networkctl reload; "
        "ip netns del phone; modprobe -r mac80211_hwsim"
    )


def join_hotspot(guest: Guest, tell: Callable[[str, bool, str], None], seconds: float) -> None:
    """Check that a phone in the table's own wireless network gets an address and reaches the page."""
    status, words = guest.run("modprobe mac80211_hwsim radios=2", 60)
    if status:
        tell("a wireless network of its own", False, f"this kernel simulates no radios: {words.strip()}")
        return
    guest.run("until systemctl -q is-active table-referee-hotspot@wlan0; do sleep 1; done", seconds)
    kept = guest.run("cat /etc/table-referee/hotspot.txt")[1]
    said = dict(re.findall(r"^(name|password): (.*)$", kept, flags=re.MULTILINE))
    inside = "ip netns exec phone"
    files = f"{_write('/tmp/phone.conf', _station(kept))}; {_write('/tmp/phone.py', _PHONE)}"
    guest.run(f"{files}; {_CARRY_OFF}; {_JOIN}", seconds)
    offer = guest.run(f"{inside} python3 /tmp/phone.py", seconds)[1].strip()
    found = re.search(r"offered ([\d.]+) router", offer)
    fetch = "import urllib.request as u; print(u.urlopen('http://10.83.0.1:8080/', timeout=60).status)"
    page = ""
    if found:
        guest.run(f"{inside} ip addr add {found[1]}/24 dev wlan1")
        page = guest.run(f'{inside} python3 -c "{fetch}"', seconds)[1].strip()
    tell("a wireless network of its own", page.endswith("200"), f"{said.get('name')}, {offer}, page: {page[-200:]}")
    guest.run("ip netns del phone; modprobe -r mac80211_hwsim")
