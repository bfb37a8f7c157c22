"""A stretch of play at the simulated table, and its spoilt pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hardware.ports import Frame
from hardware.simulated.table.script import Script
from hardware.simulated.table.simulated_table import SimulatedTable
from tests.support.awkward import AwkwardScene
from tests.support.effects import Effect
from tests.support.odd_faces import DeckWithOddFaces
from tests.support.printed_cloth import PrintedScene


@dataclass(frozen=True, slots=True)
class Situation:
    """One stretch of play and its disturbances."""

    name: str
    script: Script
    family: str
    effects: tuple[Effect, ...] = ()
    bent: Mapping[str, float] = field(default_factory=dict)
    trouble: str = ""
    """The camera trouble that must be reported: ``dark``, ``blocked`` or ``moved``."""
    moments: tuple[int, ...] = ()
    """Instants worth inspecting."""
    cloth: tuple[int, int, int] | None = None
    """The cloth's colour: blue, green, red; None: the seed chooses."""
    printed: bool = False
    """Whether four faces are printed on the cloth."""


class PrintedAwkwardScene(AwkwardScene, PrintedScene):
    """The same on a cloth with faces printed on it."""


class SpoiltTable(SimulatedTable):
    """The simulated table of a situation."""

    def __init__(
        self, situation: Situation, fps: float = 15.0, size: tuple[int, int] = (960, 720), printed: bool = False
    ) -> None:
        scene = PrintedAwkwardScene if printed or situation.printed else AwkwardScene
        super().__init__(situation.script, fps, size, situation.family, scene=scene, colour=situation.cloth)
        self.scene.deck = DeckWithOddFaces(situation.family, self.scene.scale, self.scene.seed)
        self._effects = situation.effects
        assert isinstance(self.scene, AwkwardScene)
        self.scene.bent = situation.bent

    def render(self, t: int) -> Frame:
        frame = super().render(t)
        image = frame.image
        for effect in self._effects:
            image = effect(image, t, self.scene)
        return Frame(image, frame.t, frame.exposure, frame.index)

    def frames(self) -> Iterator[Frame]:
        for index in range(self.frame_count):
            yield self.render(self.frame_time(index))
