"""`referee certify`: measure the table step by step, judge each result, show the page and keep it with the games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from hardware.camera.light_offset import NoOffset
from hardware.clock import wall_now
from hardware.ports import HardwareMissing
from referee.certification.certificate_page import certificate_document
from referee.certification.judgement import (
    judge_clock,
    judge_offset,
    judge_pads,
    judge_pairs,
    judge_quickness,
    judge_seal,
    judge_speed,
    judge_view,
    unmeasured,
)
from referee.certification.light_trials import TRIALS, NoLight
from referee.certification.running_table import Quickness
from referee.certification.table_bench import HANDS, TableBench
from referee.errors import UserError
from referee.record.certificates import (
    GROUPS,
    Certificate,
    CertificateLine,
    certificates_folder,
    machine_mark,
    program_version,
    save_certificate,
    settings_mark,
)
from referee.settings.model import Settings, load_settings
from referee.text.catalogue import Texts, texts

Told = Callable[[int], None]
_VIEW: Final = ("focus", "exposure", "flicker")
_PADS: Final = ("roll_call", "bounce", "crosstalk", "order")


def certify(
    path: Path | None = None, *, simulated: bool = False, out: Path | None = None, language: str | None = None
) -> int:
    """Certify a table; return 1 if a requirement was not met.

    Args:
        path: the table's settings; None only for the simulated table.
        simulated: certify the simulated table.
        out: path for a copy of the page.
        language: of the page; None: the voice's.

    Raises:
        UserError: there are no settings, or the page cannot be written.
    """
    if path is not None:
        settings = load_settings(path)
    elif simulated:
        from referee.certification.simulated_bench import simulated_settings

        settings = simulated_settings()
    else:
        raise UserError("certify needs --settings FILE, or --simulated")
    words = texts(language or settings.voice.language)
    certificate = measure_table(_bench(settings, words, simulated))
    page = certificate_document(certificate, words)
    kept = save_certificate(certificates_folder(settings), certificate, page)
    if out is not None:
        try:
            out.write_text(page, encoding="utf-8")
        except OSError as error:
            raise UserError("--out: {out} cannot be written: {why}", out=out, why=error.strerror) from None
    show(certificate, words)
    print(words("certificate.kept", place=str(kept)))
    return int(not certificate.passed)


def _bench(settings: Settings, words: Texts, simulated: bool) -> TableBench:
    if not simulated:
        return TableBench(settings, words)
    from referee.certification.simulated_bench import SimulatedTableBench

    return SimulatedTableBench(settings, words)


def measure_table(bench: TableBench, *, at: str | None = None) -> Certificate:
    """Measure everything, with progress bars; ``at`` replaces the wall time."""
    words = bench.texts
    lines: list[CertificateLine] = []
    notes: dict[str, str] = {}
    with Progress(console=Console(stderr=True), transient=True) as bars:
        steps = bars.add_task("", total=len(_STEPS))
        for step, (name, keys, measure) in enumerate(_STEPS):
            part = bars.add_task(words(f"certificate.step.{name}"), total=None)

            def count(done: int, part: object = part, of: int = _COUNTS.get(name, 0)) -> None:
                bars.update(part, completed=done, total=of)  # type: ignore[arg-type]

            lines += _measured(keys, lambda measure=measure, count=count: measure(bench, count, notes))  # type: ignore[misc]
            bars.update(steps, completed=step + 1)
            bars.remove_task(part)
    versions = bench.versions()
    lines.append(CertificateLine("versions", True, {}, {**versions, "referee": program_version()}))
    order = [key for keys in GROUPS.values() for key in keys]
    return Certificate(
        at=at or wall_now(), machine=machine_mark(), version=program_version(), settings=settings_mark(bench.settings),
        lines=tuple(sorted(lines, key=lambda line: order.index(line.key))), simulated=bench.simulated,
        seats=bench.names, urgency=notes.get("urgency", ""),
    )  # fmt: skip


def _measured(keys: Iterable[str], measure: Callable[[], Iterable[CertificateLine]]) -> list[CertificateLine]:
    """Return the lines of one step; a missing device fails its lines with its own words, and the other steps go on."""
    try:
        return list(measure())
    except NoLight:
        why = "no_light"
    except NoOffset:
        why = "no_offset"
    except (HardwareMissing, UserError, OSError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
    return [unmeasured(key, why) for key in keys]


# The steps


def _see(bench: TableBench, _count: Told, _notes: dict[str, str]) -> Iterator[CertificateLine]:
    yield from judge_view(bench.view())


def _read(bench: TableBench, _count: Told, _notes: dict[str, str]) -> Iterator[CertificateLine]:
    yield judge_speed(bench.speed())


def _offset(bench: TableBench, count: Told, _notes: dict[str, str]) -> Iterator[CertificateLine]:
    room = bench.offset(count)
    yield judge_offset(room.offset, room.limit)


def _feel(bench: TableBench, _count: Told, _notes: dict[str, str]) -> Iterator[CertificateLine]:
    check, pairs = bench.pads()
    yield from judge_pads(check, bench.names)
    yield judge_pairs(pairs.outcomes, bench.names)


def _hurry(bench: TableBench, count: Told, notes: dict[str, str]) -> Iterator[CertificateLine]:
    quick: Quickness = bench.quickness(count)
    notes["urgency"] = quick.urgency
    for key, part, values in (("light", "lights", quick.light), ("sound", "voice", quick.sound)):
        missing = quick.missing.get(part, "")
        yield unmeasured(key, missing) if missing else judge_quickness(key, values)


def _count_time(bench: TableBench, _count: Told, _notes: dict[str, str]) -> Iterator[CertificateLine]:
    step, finding = bench.clock_step()
    yield judge_clock(step, finding.words, is_fine=finding.state == "fine")


def _write(bench: TableBench, _count: Told, _notes: dict[str, str]) -> Iterator[CertificateLine]:
    yield judge_quickness("disk", bench.disk())


def _seal(bench: TableBench, _count: Told, _notes: dict[str, str]) -> Iterator[CertificateLine]:
    yield judge_seal(*bench.seal())


_STEPS: Final = (
    ("view", _VIEW, _see), ("look", ("look",), _read), ("offset", ("offset",), _offset), ("pads", _PADS, _feel),
    ("quickness", ("light", "sound"), _hurry), ("clock", ("clock",), _count_time), ("disk", ("disk",), _write),
    ("seal", ("seal",), _seal),
)  # fmt: skip
"""Steps in order: the camera while hands are off the table, then the hands, then the machine."""
_COUNTS: Final = {"offset": TRIALS, "quickness": HANDS}


def show(certificate: Certificate, words: Texts) -> None:
    """Print the certificate on the terminal."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for name in ("", "what", "required", "measured"):
        table.add_column(words(f"certificate.{name}") if name else "", overflow="fold")
    before = ""
    for line in certificate.lines:
        mark = "[green]✓[/]" if line.passed else "[red]✗[/]"
        table.add_row(mark, line.name(words), line.required(words), _plain(line.found(words)))
        mend, said = line.mend(words), before
        before = mend
        # A missing part fails several lines: show its remedy once.
        if mend and mend != said:
            command = f" ({line.command})" if line.command else ""
            table.add_row("", "", "", f"[yellow]→ {_plain(mend + command)}[/]")
    console = Console(highlight=False)
    console.print(table)
    verdict = "passed" if certificate.passed else "failed"
    console.print(f"[bold]{words(f'certificate.{verdict}')}[/]")


def _plain(text: str) -> str:
    """Escape brackets, which rich would take for markup."""
    return text.replace("[", r"\[")
