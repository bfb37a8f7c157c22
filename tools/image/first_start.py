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


def join_hotspot(guest: Guest, tell: Callable[[str, bool, str], None], seconds: float) -> None:
    """Check that a phone in the table's own wireless network gets an address and reaches the page."""
    status, words = guest.run("modprobe mac80211_hwsim radios=2", 60)
    if status:
        tell("a wireless network of its own", False, f"this kernel simulates no radios: {words.strip()}")
        return
    guest.run("until systemctl -q is-active table-referee-hotspot@wlan0; do sleep 1; done", seconds)
    kept = guest.run("cat /etc/table-referee/hotspot.txt")[1]
    said = dict(re.findall(r"^(name|password): (.*)$", kept, flags=re.MULTILINE))
    station = f'network={{\n ssid="{said.get("name")}"\n psk="{said.get("password")}"\n}}\n'
    files = "; ".join(
        f"echo {base64.b64encode(text.encode()).decode()} | base64 -d > /tmp/{name}"
        for name, text in {"phone.conf": station, "phone.py": _PHONE}.items()
    )
    inside = "ip netns exec phone"
    guest.run(
        f"{files}; systemctl stop table-referee-hotspot@wlan1; ip netns add phone; "
        "iw phy $(cat /sys/class/net/wlan1/phy80211/name) set netns name phone; "
        f"{inside} wpa_supplicant -B -i wlan1 -c /tmp/phone.conf; "
        f"until {inside} iw dev wlan1 link | grep -q Connected; do sleep 1; done", seconds,
    )  # fmt: skip
    offer = guest.run(f"{inside} python3 /tmp/phone.py", seconds)[1].strip()
    found = re.search(r"offered ([\d.]+) router", offer)
    fetch = "import urllib.request as u; print(u.urlopen('http://10.83.0.1:8080/', timeout=60).status)"
    page = ""
    if found:
        guest.run(f"{inside} ip addr add {found[1]}/24 dev wlan1")
        page = guest.run(f'{inside} python3 -c "{fetch}"', seconds)[1].strip()
    tell("a wireless network of its own", page.endswith("200"), f"{said.get('name')}, {offer}, page: {page[-200:]}")
    guest.run("ip netns del phone; modprobe -r mac80211_hwsim")
