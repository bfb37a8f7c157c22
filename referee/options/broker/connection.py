"""A connection to a broker, for a table and for the hall: identity, reconnection, and faults in words.

paho's own thread does everything that waits, and resends what the broker has not acknowledged. MQTT 5 lets us announce
the longest packet that we accept, so the broker never sends a longer one; with a broker that refuses MQTT 5 we speak
3.1.1, and the receiver of a payload checks its length.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from referee.options.broker.messages import LONGEST_PAYLOAD

_KEEPALIVE: Final = 15
"""Seconds; after one and a half times that without a packet the broker publishes the last will."""
_SOONEST, _LATEST = 1, 30
"""Seconds between reconnection attempts: doubled from the first to the second value."""
_OTHER_VERSION: Final = "Unsupported protocol version"
"""paho's name for the broker's refusal of this MQTT version."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Broker:
    """Address and credentials of the broker."""

    host: str
    port: int = 1883
    user: str = ""
    password_file: str = ""
    tls: bool = False

    @property
    def where(self) -> str:
        """Host and port, for people."""
        return f"{self.host}:{self.port}"

    def password(self) -> str | None:
        """Return the first line of the file; raises `OSError` or `UnicodeDecodeError` if it cannot be read."""
        if not self.password_file:
            return None
        lines = Path(self.password_file).expanduser().read_text(encoding="utf-8").splitlines()
        return lines[0].strip() if lines else ""


class Connection:
    """paho's client and its thread, which reconnects on its own; only the constructor raises.

    Args:
        broker: where.
        name: the client's id. It is fixed, so that a table's new connection takes over its old one, whose last will
            would otherwise be published after the new one's ``online``.
        will: topic and payload of the last will, retained.
        entered: called in paho's thread after each connection.
        heard: called there for each message: topic, payload, whether it had been retained.
    """

    def __init__(
        self,
        broker: Broker,
        name: str,
        *,
        will: tuple[str, bytes] | None = None,
        entered: Callable[[Client], object] = lambda _: None,
        heard: Callable[[str, bytes, bool], None] = lambda *_: None,
    ) -> None:
        self.broker = broker
        self.trouble = f"the broker {broker.where} has not answered yet"
        """The current fault and its remedy; empty if there is none."""
        self.connected = threading.Event()
        self._name, self._will, self._entered, self._heard = name, will, entered, heard
        self._change = threading.Lock()
        self._left = False
        self.client = self._new_client(MQTTProtocolVersion.MQTTv5)

    def _new_client(self, version: MQTTProtocolVersion) -> Client:
        clean = True if version == MQTTProtocolVersion.MQTTv311 else None  # MQTT 5 sends this flag with each connection
        client = Client(CallbackAPIVersion.VERSION2, client_id=self._name, clean_session=clean, protocol=version)
        client.reconnect_delay_set(_SOONEST, _LATEST)
        if self._will is not None:
            client.will_set(*self._will, qos=1, retain=True)
        client.on_connect, client.on_connect_fail = self._on_connect, self._on_connect_fail
        client.on_disconnect, client.on_message = self._on_disconnect, self._on_message
        return client

    def start(self) -> None:
        """Start to connect; if this fails at once, `trouble` says why."""
        broker, client = self.broker, self.client
        try:
            if broker.user:
                client.username_pw_set(broker.user, broker.password())
            if broker.tls:
                client.tls_set()
            if client.protocol == MQTTProtocolVersion.MQTTv5:
                bound = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
                bound.MaximumPacketSize = LONGEST_PAYLOAD
                client.connect_async(broker.host, broker.port, _KEEPALIVE, clean_start=True, properties=bound)
            else:
                client.connect_async(broker.host, broker.port, _KEEPALIVE)
            client.loop_start()
        except (OSError, ValueError) as error:
            self.trouble = f"no connection to the broker can be made ({error}): look at password file, host and TLS"
            _LOG.warning("%s", self.trouble)

    def stop(self, patience: float | None = None) -> None:
        """Disconnect properly, so that no last will is published; wait for paho's thread, at most ``patience``
        seconds.
        """
        with self._change:
            self._left, client = True, self.client

        def leave() -> None:
            client.disconnect()
            client.loop_stop()

        leaving = threading.Thread(target=leave, name="mqtt leaves", daemon=True)
        leaving.start()
        leaving.join(patience)

    def _on_connect(
        self, client: Client, _data: Any, _flags: ConnectFlags, code: ReasonCode, _more: Properties | None
    ) -> None:
        if code == _OTHER_VERSION and client.protocol == MQTTProtocolVersion.MQTTv5:
            self._fall_back(client)
            return
        if code.is_failure:
            what = "look at user and password file, and at who may enter there"
            self._tell(f"the broker {self.broker.where} refuses us ({code}): {what}")
            return
        self.trouble = ""
        self.connected.set()
        self._entered(client)

    def _fall_back(self, refused: Client) -> None:
        """Switch to MQTT 3.1.1; the refused client ends with its thread; it had no messages."""
        _LOG.info("the broker %s speaks no MQTT 5: it is asked in 3.1.1", self.broker.where)
        refused.on_disconnect = None
        refused.disconnect()
        with self._change:
            if not self._left:
                self.client = self._new_client(MQTTProtocolVersion.MQTTv311)
                self.start()

    def _on_connect_fail(self, _client: Client, _data: Any) -> None:
        trusted = ", and that this machine trusts its certificate" if self.broker.tls else ""
        self._tell(
            f"the broker {self.broker.where} cannot be reached: look at its power and network, and at the host and "
            f"port that are set here{trusted}"
        )

    def _on_disconnect(
        self, _client: Client, _data: Any, _flags: DisconnectFlags, code: ReasonCode, _more: Properties | None
    ) -> None:
        was = self.connected.is_set()
        self.connected.clear()
        if was and code.is_failure:
            words = "it is tried again: look at its power and network"
            self._tell(f"the broker {self.broker.where} is gone ({code}); {words}")

    def _tell(self, words: str) -> None:
        if words != self.trouble:
            _LOG.warning("%s", words)
        self.trouble = words

    def _on_message(self, _client: Client, _data: Any, message: Any) -> None:
        with suppress(UnicodeDecodeError):  # a topic that is not text is not ours
            self._heard(message.topic, message.payload, message.retain)
