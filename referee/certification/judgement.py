"""Lines of a certificate, from measurements and `requirements`. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hardware.camera.light_offset import LightOffset
from referee.certification.pair_check import Outcome
from referee.certification.requirements import LIMITS, USUAL_SHARE
from referee.record.certificates import CertificateLine, Figure
from referee.record.seals import BrokenSeal, show_seal
from referee.setup.calibration.pad_check import PadCheck
from referee.setup.calibration.report import Measured
from referee.setup.eye_speed import EyeSpeed
from referee.share import percentile
from referee.units import MS


def unmeasured(key: str, why_not: str) -> CertificateLine:
    """Return the line of a value that was not measured; it does not pass."""
    limits: dict[str, Figure] = {"limit": _limit(key)} if key in LIMITS else {}
    if key == "exposure":
        limits["clipped"] = _limit("clipped")
    return CertificateLine(key, False, limits, why_not=why_not)


def judge_pads(check: PadCheck, names: Sequence[str]) -> Iterator[CertificateLine]:
    """Judge whether every pad was heard, how the pads bounce, and their crosstalk."""
    seats = range(1, len(names) + 1)
    silent = ", ".join(names[seat - 1] for seat in check.silent)
    heard: dict[str, Figure] = {"heard": len(names) - len(check.silent), "seats": len(names), "silent": silent}
    yield CertificateLine("roll_call", not silent, {}, heard)
    worst = max(seats, key=check.bounce)
    bounce = _ms(check.bounce(worst))
    yield _under("bounce", bounce, {"worst": bounce, "who": names[worst - 1]}, measured=bool(check.blows))
    hand, by = max(((a, b) for a in seats for b in seats if a != b), key=lambda pair: check.echo(*pair))
    echo = _ms(check.echo(hand, by))
    named: dict[str, Figure] = {"worst": echo, "hand": names[hand - 1], "by": names[by - 1]}
    line = _under("crosstalk", echo, named, measured=bool(check.blows))
    # A short echo may still come so late that it counts as a second hand.
    yield line if not check.mend_words() else replace(line, passed=False)


def judge_pairs(outcomes: Mapping[tuple[int, int], Outcome], names: Sequence[str]) -> CertificateLine:
    """Judge whether successive hands were reported in order."""
    wrong = [pair for pair, outcome in outcomes.items() if outcome != "told"]
    told: dict[str, Figure] = {
        "told": len(outcomes) - len(wrong), "pairs": len(outcomes),
        "wrong": ", ".join(f"{names[a - 1]} – {names[b - 1]}" for a, b in wrong),
    }  # fmt: skip
    return CertificateLine("order", LIMITS["order"].holds(len(wrong)), {}, told)


def judge_view(m: Measured) -> Iterator[CertificateLine]:
    """Judge how sharp, bright and steady the camera's picture is."""
    share = round(100 * m.edge_px / m.heights[1], 1)
    if math.isnan(share):
        yield unmeasured("focus", "no_edge")
    else:
        yield _under("focus", share, {"value": share})
    white, clipped = round(m.light.white), round(100 * m.light.clipped)
    good = LIMITS["exposure"].holds(white) and LIMITS["clipped"].holds(clipped)
    limits = {"limit": _limit("exposure"), "clipped": _limit("clipped")}
    yield CertificateLine("exposure", good, limits, {"white": white, "over": clipped})
    if math.isnan(m.still.flicker):
        yield unmeasured("flicker", "one_picture")
    else:
        swing = round(100 * m.still.flicker, 1)
        yield _under("flicker", swing, {"value": swing})


def judge_speed(speed: EyeSpeed) -> CertificateLine:
    """Judge how many cards a second the eye follows."""
    cards = round(speed.cards_a_second, 1)
    return _under("look", cards, {"cards": cards, "ms": round(speed.look_ms)})


def judge_offset(offset: LightOffset, limit: int) -> CertificateLine:
    """Judge how late the camera's timestamps are; ``limit`` (ns) is their stated error."""
    late, error = _ms(offset.late), _ms(offset.error)
    # The whole interval must lie within the stated error.
    good = abs(offset.late) + offset.error <= limit
    seen = {"late": late, "error": error, "agreed": offset.agreed, "trials": offset.trials}
    return CertificateLine("offset", good, {"limit": _plain(_ms(limit))}, seen)


def judge_quickness(key: str, values: Sequence[float]) -> CertificateLine:
    """Judge the delay of a light, a sound or the disk (``light``, ``sound``, ``disk``); values in ms."""
    value = percentile(values, USUAL_SHARE)
    if math.isnan(value):
        return unmeasured(key, "nothing")
    value = round(value, 1)
    return _under(key, value, {"value": value, "count": len(values)})


def judge_clock(step: int, source: str, *, is_fine: bool) -> CertificateLine:
    """Judge the resolution of the clock (ns), and whether its source is suitable."""
    told = round(step / MS, 4)
    good = is_fine and LIMITS["clock"].holds(told)
    return CertificateLine("clock", good, {"limit": _limit("clock")}, {"step": told, "source": source})


def judge_seal(game: int | None, seal: str, broken: Sequence[BrokenSeal]) -> CertificateLine:
    """Judge whether the last game is unaltered; ``game`` is None if there is none."""
    if game is None:
        return CertificateLine("no_game", True)
    return CertificateLine("seal", not broken, {}, {"game": game, "seal": show_seal(seal) or "–"})


def _under(key: str, value: float, told: Mapping[str, Figure], *, measured: bool = True) -> CertificateLine:
    if not measured:
        return unmeasured(key, "nothing")
    return CertificateLine(key, LIMITS[key].holds(value), {"limit": _limit(key)}, told)


def _limit(key: str) -> float:
    """Return the limit as written: without a decimal point if it is whole."""
    return _plain(round(LIMITS[key].value, 2))


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value


def _ms(ns: int) -> float:
    return round(ns / MS, 1)
