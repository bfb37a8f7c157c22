"""A table on a real Mosquitto: publishing, killed, back, refused."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from referee.engine.view import View
from referee.options.broker.service import BrokerService
from referee.settings.model import MqttSettings
from tests.options.broker.test_telling import NAMES, TURN, VIEW, WON
from tests.options.hall.broker import MISSING, PROGRAM, Mosquitto, free_port
from tests.options.hall.listener import Listener
from tests.support.patience import PATIENCE


def mqtt(port: int, **more: Any) -> MqttSettings:
    """Return the section of the settings."""
    return MqttSettings(host="127.0.0.1", port=port, table="t1", **more)


def wait_for(words: str, publisher: BrokerService) -> None:
    end = time.monotonic() + PATIENCE
    while words not in publisher.trouble or (not words and publisher.trouble):
        assert time.monotonic() < end, publisher.trouble
        time.sleep(0.02)


@contextmanager
def turning(publisher: BrokerService) -> Iterator[BrokerService]:
    """Run a loop that hands over due messages."""
    over = threading.Event()

    def turn() -> None:
        while not over.wait(0.01):
            publisher.beat(0)

    loop = threading.Thread(target=turn)
    loop.start()
    try:
        yield publisher
    finally:
        over.set()
        loop.join()


def numbers(heard: Listener) -> list[int]:
    return [message["n"] for message in heard.objects("referee/t1/ruling")]


@pytest.fixture
def table(broker: Mosquitto) -> Iterator[BrokerService]:
    publisher = BrokerService(mqtt(broker.port), session="run")
    publisher.start()
    publisher.begin(1, NAMES)
    publisher.tell(VIEW)
    with turning(publisher):
        yield publisher
    publisher.close()


def test_a_table_is_told(broker: Mosquitto, table: BrokerService) -> None:
    with Listener(broker.port, "referee/#", "homeassistant/#") as heard:
        heard.until(
            lambda listener: listener.last("referee/t1/available") == b"online" and listener.last("referee/t1/state")
        )
        table.take_rulings([WON, TURN])
        heard.until(lambda listener: numbers(listener) == [1, 2])
        heard.until(lambda listener: any(state["players"][2]["slaps"] for state in listener.objects("referee/t1/day")))
        heard.until(lambda listener: sum(topic.startswith("homeassistant/") for topic, _, _ in listener.messages) == 5)
        table.close()
        heard.until(lambda listener: listener.last("referee/t1/available") == b"offline")
    with Listener(broker.port, "referee/#") as late:
        late.until(lambda listener: listener.last("referee/t1/state") and listener.last("referee/t1/day"))
        assert all(retained for _, _, retained in late.messages) and not numbers(late)


def test_the_last_will_is_published_when_a_table_dies(broker: Mosquitto) -> None:
    from paho.mqtt.client import Client

    from referee.options.broker.connection import Broker, Connection

    def drop(client: Client) -> None:
        sock = client.socket()
        assert sock is not None
        client.publish("referee/t1/available", b"online", retain=True)
        client.on_disconnect = None
        client.reconnect_delay_set(60, 60)
        sock.close()

    with Listener(broker.port, "referee/#") as heard:
        dying = Connection(
            Broker("127.0.0.1", broker.port), "referee-t1", will=("referee/t1/available", b"offline"), entered=drop
        )
        dying.start()
        heard.until(lambda listener: listener.last("referee/t1/available") == b"offline")
        dying.stop()


def test_a_broker_that_was_killed_gets_all_rulings_when_it_is_back(broker: Mosquitto, table: BrokerService) -> None:
    with Listener(broker.port, "referee/#") as heard:
        heard.until(lambda listener: listener.last("referee/t1/state"))
        wait_for("", table)
        table.take_rulings([WON])
        heard.until(lambda listener: numbers(listener) == [1])
        broker.kill()
        wait_for("is gone", table)
        table.take_rulings([TURN] * 50)
        began = time.monotonic()
        table.tell(View(names=NAMES, counts=(1, 2, 3)))
        assert time.monotonic() - began < 5, "telling never waits for a connection"
        assert len(table.outbox) >= 50
        broker.start()
        with Listener(broker.port, "referee/#") as again:
            heard.until(lambda listener: sorted(set(numbers(listener)) | set(numbers(again))) == list(range(1, 52)))
            again.until(
                lambda listener: listener.objects("referee/t1/state")[-1:] and listener.last("referee/t1/available")
            )
            assert [seat["cards"] for seat in again.objects("referee/t1/state")[-1]["seats"]] == [1, 2, 3]
            assert again.last("referee/t1/available") == b"online"
        wait_for("", table)
        assert len(table.outbox) == 0


def test_no_broker_at_all_is_told_in_words_and_stops_nothing() -> None:
    publisher = BrokerService(mqtt(free_port()))
    publisher.start()
    publisher.begin(1, NAMES)
    for _ in range(3000):
        publisher.take_rulings([WON])
    publisher.tell(VIEW)
    wait_for("cannot be reached", publisher)
    assert "[mqtt]" in publisher.trouble and "1000 rulings found no room" in publisher.trouble
    publisher.close()


def test_a_broker_that_cannot_be_reached_by_tls_may_have_a_certificate_of_its_own(broker: Mosquitto) -> None:
    publisher = BrokerService(mqtt(broker.port, tls=True))
    publisher.start()
    wait_for("certificate", publisher)
    publisher.close()


def test_nothing_that_it_is_told_makes_it_raise() -> None:
    publisher = BrokerService(mqtt(free_port()))
    publisher.take_rulings([object()])  # type: ignore[list-item]
    publisher.tell(None)  # type: ignore[arg-type]
    publisher.begin(1, None)  # type: ignore[arg-type]
    publisher.close()


def test_a_password_that_cannot_be_read_is_a_trouble_and_no_crash(tmp_path: Path) -> None:
    publisher = BrokerService(mqtt(free_port(), user="t1", password_file=str(tmp_path / "nothing")))
    publisher.start()
    wait_for("password file", publisher)
    publisher.close()


def test_a_broker_with_passwords_lets_in_who_knows_one(tmp_path: Path) -> None:
    if PROGRAM is None or shutil.which("mosquitto_passwd") is None:
        pytest.skip(MISSING)
    known = tmp_path / "passwords"
    known.touch(mode=0o600)
    subprocess.run(["mosquitto_passwd", "-b", str(known), "t1", "right"], check=True)
    (tmp_path / "right").write_text("right\n")
    (tmp_path / "wrong").write_text("wrong\n")
    with Mosquitto(tmp_path, password=known) as broker:
        refused = BrokerService(mqtt(broker.port, user="t1", password_file=str(tmp_path / "wrong")))
        refused.start()
        wait_for("refuses", refused)
        refused.close()
        let_in = BrokerService(mqtt(broker.port, user="t1", password_file=str(tmp_path / "right")))
        let_in.start()
        wait_for("", let_in)
        let_in.close()


def test_the_documented_broker_lets_a_table_speak_for_itself_alone(tmp_path: Path) -> None:
    """The settings and rights of docs/club.md, with other paths and another port."""
    if PROGRAM is None or shutil.which("mosquitto_passwd") is None:
        pytest.skip(MISSING)
    text = (Path(__file__).parents[3] / "docs" / "club.md").read_text(encoding="utf-8")
    conf, rights = (text.partition(f"```{kind}\n")[2].partition("```")[0] for kind in ("conf", "acl"))
    known = tmp_path / "passwords"
    known.touch(mode=0o600)
    for user in ("hall", "t1", "t2"):
        subprocess.run(["mosquitto_passwd", "-b", str(known), user, "secret"], check=True)
    (tmp_path / "rights").write_text(rights)
    (tmp_path / "secret").write_text("secret\n")
    ours = ("listener", "allow_anonymous", "password_file", "acl_file", "persistence")
    rest = [line for line in conf.splitlines() if line and line.split()[0] not in ours]
    assert len(rest) == 3
    with (
        Mosquitto(tmp_path, password=known, lines=(f"acl_file {tmp_path / 'rights'}", *rest)) as broker,
        Listener(broker.port, "referee/#", user="hall", password="secret") as hall,
        Listener(broker.port, user="t2", password="secret") as other,
    ):
        other.say("referee/t1/state", b"forged")
        hall.say("referee/t1/state", b"forged")
        table = BrokerService(mqtt(broker.port, user="t1", password_file=str(tmp_path / "secret")), session="run")
        table.start()
        table.begin(1, NAMES)
        table.tell(VIEW)
        with turning(table):
            hall.until(
                lambda listener: (
                    listener.last("referee/t1/state") and listener.last("referee/t1/available") == b"online"
                )
            )
        table.close()
        assert b"forged" not in [payload for _, payload, _ in hall.messages]
