"""The simulated table: a camera that views a script being played, and the contacts of its pads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from hardware.ports import Frame
from hardware.simulated.pictures.ambient import Lamp
from hardware.simulated.pictures.scene import CARD_SHARE, Scene
from hardware.simulated.table.acts import Lay
from hardware.simulated.table.script import Script
from referee.engine.log import encode_observation
from referee.units import MS, SECOND


class SimulatedTable:
    """The camera and pads of a table at which a script is played; implements `hardware.ports.Camera`.

    Args:
        script: the game.
        fps: frames a second.
        size: width and height of the picture, px.
        deck_family: one of `hardware.simulated.decks.families.FAMILIES`.
        seed: cloth, light, arms and noise; the script's own seed unless given.
        card_share: a card's height as a share of the picture's.
        exposure_ns: exposure of each picture.
        lamp: a flickering lamp, if any.
        scene: the renderer's class.
        colour: the cloth's, blue, green, red; chosen by the seed unless given.
    """

    def __init__(
        self,
        script: Script,
        fps: float = 15.0,
        size: tuple[int, int] = (960, 720),
        deck_family: str = "harbour",
        seed: int | None = None,
        *,
        card_share: float = CARD_SHARE,
        exposure_ns: int = 4 * MS,
        lamp: Lamp | None = None,
        scene: type[Scene] = Scene,
        colour: tuple[int, int, int] | None = None,
    ) -> None:
        if fps <= 0:
            raise ValueError("fps must be more than 0")
        self.script, self.fps, self.size = script, fps, size
        self.exposure_ns, self.lamp = exposure_ns, lamp
        self.scene = scene(
            script.acts, script.seats, size=size, family=deck_family, seed=script.seed if seed is None else seed,
            card_share=card_share, exposure_ns=exposure_ns, colour=colour,
        )  # fmt: skip
        self._next = 0
        """Index of the next frame."""
        self._closed = False

    @property
    def duration(self) -> int:
        """The script's end, ns."""
        return self.script.duration

    @property
    def frame_count(self) -> int:
        """Number of frames yielded by `frames`."""
        return int(self.script.duration * self.fps // SECOND) + 1

    @property
    def seat_bearings(self) -> tuple[float, ...]:
        """Each seat's bearing, degrees counter-clockwise from the picture's right."""
        return tuple(player.bearing for player in self.scene.players)

    def frame_time(self, index: int) -> int:
        """Return the start of exposure of a frame, ns."""
        return round(index * SECOND / self.fps)

    def warm(self) -> None:
        """Print the cards and draw the hands in advance, so that no frame has to wait for them."""
        self.scene.warm()

    def render(self, t: int) -> Frame:
        """Return the frame whose exposure starts at ``t`` ns; fastest if called in order of time."""
        index = round(t * self.fps / SECOND)
        image = self.scene.picture(t, index)
        if self.lamp is not None:
            image = self.lamp.shine(image, t, self.exposure_ns)
        return Frame(image, t, self.exposure_ns, index)

    def frames(self) -> Iterator[Frame]:
        """Yield every frame of the script, in order."""
        self._next = 0
        while self._next < self.frame_count and not self._closed:
            self._next += 1
            yield self.render(self.frame_time(self._next - 1))

    def follow(self, script: Script, since: int) -> None:
        """Continue with another script, equal up to ``since`` (ns), from the first frame after that."""
        self.script = script
        self.scene.follow(script.acts, since)
        self._next = min(self._next, int(since * self.fps // SECOND) + 1)

    def close(self) -> None:
        """Stop `frames`."""
        self._closed = True


def write_notes(folder: Path, table: SimulatedTable) -> None:
    """Write ``frames.json`` beside frames: the rate, the seats' bearings, and the truth."""
    script = table.script
    notes = {
        "fps": table.fps,
        "size": list(table.size),
        "exposure_ns": table.exposure_ns,
        "deck": table.scene.deck.family.name,
        "seed": script.seed,
        "seat_bearings": list(table.seat_bearings),
        "cards": [{"t": a.t, "seat": a.seat, "card": a.card} for a in script.acts if isinstance(a, Lay)],
        "truth": [json.loads(encode_observation(observation)) for observation in script.truth],
    }
    (folder / "frames.json").write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
