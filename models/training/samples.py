"""Turns scenes into training samples for three networks, in shards on disk so that training can be resumed."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye import geometry
from models.training.library import Library
from models.training.scenes import SIZE, DrawnCard, DrawnScene, Index, Painter

FINDER = 256
#: A finder target row: centre, up, vector to the card's centre, card's half axes up and right (px of the finder's
#: picture), then the visible share of the index.
_TARGET = 11
_MOST = 100
#: Kinds of shard, with the offset added to the seed for each.
_SPLITS = {"train": 0, "held-out": 1000, "covers": 2000}
#: Share of the heaps in `covers` topped by a card without an index.
_ODD_TOPS = 0.8


def seen(index: Index) -> float:
    """Return the visible share of the index; the worse half counts most, since a card's name needs both."""
    return min(index.rank_seen, index.suit_seen) * 0.7 + 0.3 * max(index.rank_seen, index.suit_seen)


def finder_sample(scene: DrawnScene) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return the picture at half size and up to `_MOST` target rows, padded with zeros."""
    k = FINDER / SIZE
    image = cv2.resize(scene.image, (FINDER, FINDER), interpolation=cv2.INTER_AREA)
    rows = np.zeros((_MOST, _TARGET), np.float32)
    n = 0
    for index in scene.indices:
        share = seen(index)
        if share < 0.15 or n == _MOST:
            continue
        centre, up, right = geometry.axes_of(scene.cards[index.card].quad)
        if float(index.up @ up) < 0:  # the lower corners are upside down
            up, right = -up, -right
        rows[n, :10] = np.concatenate([(index.centre + 0.5) - 0.5 / k, index.up, centre - index.centre, up, right]) * k
        rows[n, 10] = share
        n += 1
    return np.asarray(image, np.uint8), rows


def _negative(rng: np.random.Generator, scene: DrawnScene) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return a place that is no upright index: flipped or badly sized, or print, pip, court or cloth elsewhere."""
    kind = rng.random()
    if kind < 0.3 and scene.indices:
        index = scene.indices[int(rng.integers(len(scene.indices)))]
        bad = rng.random()
        if bad < 0.5:
            return index.centre + rng.normal(0, 1, 2), -index.up
        if bad < 0.75:
            return index.centre + index.up * rng.choice([-1.6, 1.6]), index.up
        return index.centre, index.up * float(rng.choice([0.45, 2.2]))
    if kind < 0.85 and scene.cards:
        card = scene.cards[int(rng.integers(len(scene.cards)))]
        w = rng.dirichlet(np.ones(4))
        point = w @ card.quad
        height = float(np.linalg.norm(card.quad[0] - card.quad[3]))
        up = (card.quad[0] - card.quad[3]) / 2 * rng.choice([-1, 1]) * rng.uniform(0.08, 0.22)
    else:
        point, height = rng.uniform(0, SIZE, 2), 100.0
        angle = rng.uniform(0, 2 * np.pi)
        up = np.array([np.cos(angle), np.sin(angle)]) * rng.uniform(6, 26)
    for index in scene.indices:
        if float(np.linalg.norm(index.centre - point)) < 0.13 * height:
            return None
    return point, up


def patches(
    scene: DrawnScene, levels: list[NDArray[np.uint8]], rng: np.random.Generator
) -> list[tuple[NDArray[np.uint8], tuple[float, ...]]]:
    """Return reader samples: patch and (rank, suit, is index 0/1/-1 unknown, rank seen, suit seen, height px)."""
    out: list[tuple[NDArray[np.uint8], tuple[float, ...]]] = []
    for index in scene.indices:
        share = seen(index)
        if max(index.rank_seen, index.suit_seen) < 0.3 or share < 0.2:
            continue
        # Imitate the finder's inaccuracy: slightly turned, shifted and scaled.
        turn = rng.normal(0, np.radians(7))
        c, s = np.cos(turn), np.sin(turn)
        centre = index.centre + rng.normal(0, 0.06, 2) * (float(np.linalg.norm(index.up)) * 2)
        up = np.array([[c, -s], [s, c]]) @ index.up * np.exp(rng.normal(0, 0.1))
        real = 1.0 if share > 0.6 else -1.0
        values = (index.rank, index.suit, real, index.rank_seen, index.suit_seen, float(np.linalg.norm(up)) * 2)
        out.append((geometry.cut_patch(levels, centre, up), values))
    rng.shuffle(out)
    out = out[:14]
    for _ in range(3 + len(out) // 4):
        place = _negative(rng, scene)
        if place is not None:
            patch = geometry.cut_patch(levels, *place)
            out.append((patch, (-1, -1, 0.0, 0, 0, float(np.linalg.norm(place[1])) * 2)))
    return out


def crop(
    card: DrawnCard, levels: list[NDArray[np.uint8]], rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return a card-reader sample: crop and (rank, suit, uncovered 0/1/-1, seen, corners in crop units of -1 to 1)."""
    centre, up, right = geometry.axes_of(card.quad)
    if rng.random() < 0.5:
        up, right = -up, -right
        quad = card.quad[[2, 3, 0, 1]]
    else:
        quad = card.quad
    # The estimated place of a card with only a corner in sight is rough: the network must correct larger errors there.
    much = 1.0 if card.seen > 0.5 else 1.5
    turn = rng.normal(0, np.radians(4)) * much
    m = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) * np.exp(rng.normal(0, 0.06) * much)
    centre = centre + up * rng.normal(0, 0.07) * much + right * rng.normal(0, 0.09) * much
    up, right = m @ up * np.exp(rng.normal(0, 0.04) * much), m @ right * np.exp(rng.normal(0, 0.04) * much)
    right = right + up * rng.normal(0, 0.03)
    frame = geometry.card_frame(centre, up, right)
    inverse = cv2.invertAffineTransform(frame)
    local = quad @ inverse[:, :2].T + inverse[:, 2]
    size = np.array([geometry.CROP_W, geometry.CROP_H])
    local = (local - (size - 1) / 2) / (size / 2)
    uncovered = 1.0 if card.covered < 0.004 else (0.0 if card.covered > 0.02 else -1.0)
    values = np.concatenate([[card.rank, card.suit, uncovered, card.seen], local.ravel()]).astype(np.float32)
    return geometry.cut_card(levels, centre, up, right), values


def _fit(cards: list[DrawnCard], rng: np.random.Generator) -> list[DrawnCard]:
    """Return cards for the card reader: mostly plain ones, and a few that show only a strip or are cut off."""
    plain = [c for c in cards if c.seen > 0.3 and c.seen + c.covered > 0.85]
    strips = [c for c in cards if c.seen > 0.08 and not (c.seen > 0.3 and c.seen + c.covered > 0.85)]
    rng.shuffle(plain)
    rng.shuffle(strips)
    return plain[:6] + strips[:3]


def shard(painter: Painter, seed: int, number: int, scenes: int, crops_alone: bool) -> dict[str, NDArray[Any]]:
    """Return shard `number` of stream `seed`: arrays of all three kinds of sample, or only of the card reader's."""
    rng = np.random.default_rng((seed, number, 5))
    rows: dict[str, list[Any]] = {}
    for i in range(scenes):
        scene = painter.scene((seed, number, i))
        levels = geometry.pyramid(scene.image, 3)
        samples: list[tuple[str, str, Any, Any]] = []
        if not crops_alone:
            samples += [("pictures", "targets", *finder_sample(scene))]
            samples += [("patches", "patch_values", *sample) for sample in patches(scene, levels, rng)]
        # The network is never asked about a card without an index, only about the cards below it.
        cards = [card for card in scene.cards if card.card >= 0 or not crops_alone]
        samples += [("crops", "crop_values", *crop(card, levels, rng)) for card in _fit(cards, rng)]
        for picture_key, value_key, picture, values in samples:
            rows.setdefault(picture_key, []).append(picture)
            rows.setdefault(value_key, []).append(np.asarray(values, np.float32))
    return {key: np.stack(each) for key, each in rows.items()}


def write_shards(folder: Path, numbers: Iterable[int], draw: Callable[[int], dict[str, NDArray[Any]]]) -> None:
    """Write the shards of these numbers; existing ones are skipped, so that a stopped run can resume."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        path = folder / f"{number:05d}.npz"
        if path.exists():
            continue
        start = time.perf_counter()
        data = draw(number)
        partial = path.with_suffix(".tmp")
        with partial.open("wb") as file:
            np.savez(file, allow_pickle=False, **data)
        partial.rename(path)  # a shard is complete or absent
        counts = ", ".join(f"{len(data[kind])} {kind}" for kind in ("patches", "crops") if kind in data)
        print(f"{path.name}: {counts} in {time.perf_counter() - start:.0f} s", flush=True)


def main() -> None:
    """Write shards (command line)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument(
        "--split",
        choices=list(_SPLITS),
        default="train",
        help="covers: crops of cards on whose heaps a card without an index lies",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--count", type=int, default=120, help="shards in all")
    parser.add_argument("--scenes", type=int, default=256, help="scenes a shard")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    library = Library.open(args.out / "library", int(args.split == "held-out"))
    seed, covers = args.seed + _SPLITS[args.split], args.split == "covers"
    painter = Painter(library, odd_tops=_ODD_TOPS if covers else 0.0)
    numbers = range(args.first, args.count, args.step)
    write_shards(args.out / args.split, numbers, lambda number: shard(painter, seed, number, args.scenes, covers))


if __name__ == "__main__":
    main()
