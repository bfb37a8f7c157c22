"""Outputs that must only change on purpose: the answers of `referee` to fixed inputs, byte for byte.

``make frozen`` gives the inputs under ``tests/frozen`` (described in its ``README.md``) to the commands and
compares exit status and standard output with ``expected.json``; where they differ, the new output is written under
``build/frozen``. Standard error may be reworded, so a difference there is only reported.
``tools/frozen.py --write`` stores the current answers.

The command is the one that the script `referee` beside this Python calls; no module of the project is imported by
name, so its modules may move.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import io
import json
import math
import multiprocessing
import os
import platform
import re
import runpy
import shlex
import shutil
import signal
import sys
import tarfile
import tempfile
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

ROOT: Final = Path(__file__).resolve().parent.parent
FROZEN: Final = ROOT / "tests" / "frozen"
EXPECTED: Final = FROZEN / "expected.json"
OUT: Final = ROOT / "build" / "frozen"
TOGETHER: Final = 10
"""Pictures read in one call, because the eye takes a while to load."""
STORED: Final = ("pictures/", "photos/", "sequences/", "commands/demo")
"""For these the output itself is stored: it holds numbers that another processor may round differently."""
SECONDS: Final = 20
LONG: Final = 240
KILLED: Final = -signal.SIGALRM
ENVIRONMENT: Final = {
    "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "COLUMNS": "80", "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1", "OPENCV_FOR_THREADS_NUM": "1",
}  # fmt: skip
"""The whole environment of the commands, besides an empty home and a folder for temporary files."""


@dataclass(frozen=True)
class Answer:
    """The result of one call."""

    code: int
    out: bytes
    err: bytes = b""


@dataclass(frozen=True)
class Job:
    """Calls of the command, one after another in their own folder."""

    names: tuple[str, ...]
    """Names of the answers: one for each call, then one for each file that is checked afterwards."""
    calls: tuple[tuple[str, ...], ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files that the folder holds beforehand."""
    stdin: bytes = b""
    seconds: int = SECONDS
    by_line: bool = False
    """Whether each line of the one call is a separate answer."""
    code_only: bool = False
    """Whether only the exit status counts: help, or the time that something took."""


def command() -> Callable[[Sequence[str]], int]:
    """Return the function that the script `referee` beside this Python calls."""
    called: Callable[[Sequence[str]], int] = runpy.run_path(str(Path(sys.executable).with_name("referee")))["main"]
    return called


def _answer(arguments: Sequence[str], folder: Path, seconds: int, streams: Sequence[BinaryIO]) -> NoReturn:
    """Call the command in a forked process, which ends here, as its script would."""
    code = 1
    try:
        os.setsid()
        # No handler: SIGALRM kills a call that takes longer, wherever it is.
        signal.setitimer(signal.ITIMER_REAL, seconds)
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, "r" if n == 0 else "w", closefd=False) for n in range(3))
        os.chdir(folder)
        os.environ |= {"HOME": str(folder / "home"), "TMPDIR": str(folder / "home")}
        tempfile.tempdir = None
        try:
            sys.exit(command()(arguments))
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def ask(arguments: Sequence[str], folder: Path, seconds: int = SECONDS, stdin: bytes = b"") -> Answer:
    """Call the command in a forked process, as if it had been started in this folder."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        child = os.fork()
        if child == 0:
            _answer([word.replace("{frozen}", str(FROZEN)) for word in arguments], folder, seconds, (given, out, err))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        return Answer(status, _anywhere(out.read(), folder), _anywhere(err.read(), folder))


def _anywhere(text: bytes, folder: Path) -> bytes:
    """Return a text without what varies between runs: paths of checkout and temporary folder, times, addresses."""
    text = text.replace(bytes(folder), b"FOLDER").replace(bytes(FROZEN), b"FROZEN")
    text = re.sub(rb"\b20\d\d-?\d\d-?\d\dT\d\d:?\d\d:?\d\d", b"NOW", text)
    return re.sub(rb"\b0x[0-9a-f]{8,}", b"0x", text)


def run(job: Job) -> dict[str, Answer]:
    """Return the answers of a job by their names."""
    with tempfile.TemporaryDirectory(prefix="frozen-") as place:
        folder = Path(place).resolve()
        (folder / "home").mkdir()
        for name, given in job.files.items():
            (folder / name).write_bytes(given)
        answers = [ask(call, folder, job.seconds, job.stdin) for call in job.calls]
        if job.code_only:
            answers = [Answer(answer.code, b"") for answer in answers]
        if job.by_line:
            answers = _lines(answers[0], len(job.names))
        for left in job.names[len(answers) :]:
            file = folder / left.rpartition(" ")[2]
            content = file.read_bytes() if file.is_file() else b"there is no such file\n"
            answers.append(Answer(0, _anywhere(content, folder)))
    return dict(zip(job.names, answers, strict=True))


def _lines(answer: Answer, count: int) -> list[Answer]:
    """Return one answer for each picture, without the picture's path and the time taken."""
    lines = [
        re.sub(rb', "ms": [0-9.]+\}$', b"}", re.sub(rb'^\{"image": "[^"]*", ', b"{", line))
        for line in answer.out.splitlines()
    ]
    if len(lines) != count:
        return [Answer(answer.code, answer.out, answer.err)] * count
    return [Answer(answer.code, line + b"\n", answer.err) for line in lines]


# -- the inputs ---------------------------------------------------------------------------------------------------


def jobs(photos: Path) -> Iterator[Job]:
    """Yield all jobs, the long ones first, so that no process waits for another at the end."""
    for path in sorted((FROZEN / "sequences").iterdir()):
        call = ("watch", f"{{frozen}}/sequences/{path.name}", "--seats", "4")
        yield Job((f"sequences/{path.name}",), (call,), seconds=LONG)
    pictures = {
        f"pictures/{path.name}": f"{{frozen}}/pictures/{path.name}" for path in sorted((FROZEN / "pictures").iterdir())
    }
    yield from _recognised(pictures)
    if photos.is_dir():
        chosen = (FROZEN / "photos.txt").read_text(encoding="utf-8").split()
        yield from _recognised({f"photos/{name}": str((photos / name).resolve()) for name in chosen})
    yield from sorted(_logs(), key=lambda job: -len(job.files["log.jsonl"]))
    yield from _commands()


def _recognised(pictures: Mapping[str, str]) -> Iterator[Job]:
    names = list(pictures)
    for at in range(0, len(names), TOGETHER):
        these = tuple(names[at : at + TOGETHER])
        yield Job(these, (("recognise", *(pictures[name] for name in these)),), seconds=LONG, by_line=True)


def _logs() -> Iterator[Job]:
    calls = (("replay", "log.jsonl"), ("replay", "--all", "log.jsonl"), ("explain", "--json", "log.jsonl"))
    with tarfile.open(FROZEN / "logs.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            assert file is not None, f"{member.name} is no file"
            name = "logs/" + member.name.removesuffix(".jsonl")
            names = tuple(f"{name}/{how}" for how in ("replay", "replay-all", "explain"))
            yield Job(names, calls, {"log.jsonl": file.read()}, seconds=LONG)


def _commands() -> Iterator[Job]:
    said = tomllib.loads((FROZEN / "commands.toml").read_text(encoding="utf-8"))
    files = {name: text.encode() for name, text in said["files"].items()}
    files |= {name: base64.b64decode(text) for name, text in said["base64"].items()}
    for name, said_of_it in said["calls"].items():
        one: dict[str, Any] = {"say": said_of_it} if isinstance(said_of_it, str | list) else said_of_it
        lines = [one["say"]] if isinstance(one["say"], str) else one["say"]
        numbered = [f"commands/{name}" + (f"/{n}" if len(lines) > 1 else "") for n in range(1, len(lines) + 1)]
        names = (*numbered, *(f"commands/{name} {file}" for file in one.get("left", [])))
        calls = tuple(tuple(shlex.split(line)) for line in lines)
        yield Job(names, calls, files, one.get("stdin", "").encode(), code_only=one.get("code_only", False))


# -- comparing ----------------------------------------------------------------------------------------------------


def record(name: str, answer: Answer) -> dict[str, Any]:
    """Return an answer as it is stored."""
    stored: dict[str, Any] = {"code": answer.code}
    if name.startswith(STORED):
        stored["text"] = answer.out.decode("utf-8", "backslashreplace")
    else:
        stored["out"] = hashlib.sha256(answer.out).hexdigest()
    return stored | ({"err": answer.err.decode("utf-8", "backslashreplace")} if answer.err else {})


def apart(old: object, new: object) -> float:
    """Return the largest difference of two numbers in one place; infinite where anything else differs."""
    if isinstance(old, str) or isinstance(new, str) or type(old) is bool or type(new) is bool:
        return 0.0 if old == new else math.inf
    if isinstance(old, int | float) and isinstance(new, int | float):
        return abs(old - new)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return max((apart(one, other) for one, other in zip(old, new, strict=True)), default=0.0)
    if isinstance(old, dict) and isinstance(new, dict) and list(old) == list(new):
        return apart(list(old.values()), list(new.values()))
    return 0.0 if old == new else math.inf


def difference(old: Mapping[str, Any] | None, new: Mapping[str, Any], near: float) -> str:
    """Describe how an answer differs from the stored one; empty where it does not."""
    if old is None:
        return "is not stored yet"
    if old["code"] != new["code"]:
        timed_out = " (took too long)" if new["code"] == KILLED else ""
        return f"exit status {new['code']}{timed_out} instead of {old['code']}"
    if old.get("text") != new.get("text"):
        try:
            far = apart(*([json.loads(line) for line in mapping["text"].splitlines()] for mapping in (old, new)))
        except ValueError:
            far = math.inf
        if far <= near:
            return ""
        return "other output" if far == math.inf else f"only numbers differ, by {far:g} at most"
    return "" if old.get("out") == new.get("out") else "other output"


def _made_with() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "ncnn", "opencv-python")}
    return {"machine": platform.machine(), "python": platform.python_version(), **packages}


def main() -> int:
    """Run the jobs, and compare or store the answers; return 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="tools/frozen.py", description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--write", action="store_true", help="store what is answered now")
    add("--photos", type=Path, default=ROOT.parent / "shared" / "photos", help="folder of real photographs")
    add("--only", default="", metavar="TEXT", help="only inputs with this in their name")
    add("--near", type=float, default=0.0, metavar="N", help="numbers read from pictures may differ by this much")
    add("--every", action="store_true", help="write all outputs there, to compare two checkouts")
    options = parser.parse_args()
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    asked = [job for job in jobs(options.photos) if any(options.only in name for name in job.names)]
    if not options.photos.is_dir():
        print(f"{options.photos} is not here: real photographs are skipped (--photos DIR)")
    stored = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {"answers": {}}
    shutil.rmtree(OUT, ignore_errors=True)
    answers = _asked(asked)
    new = {name: record(name, answer) for name, answer in answers.items()}
    # Answers that were not requested this time stay as they are.
    kept = {
        name: old
        for name, old in stored["answers"].items()
        if name not in new and (options.only or (name.startswith("photos/") and not options.photos.is_dir()))
    }
    changed = {name for name in new if difference(stored["answers"].get(name), new[name], options.near)}
    for name in answers if options.every else changed if not options.write else ():
        _put(OUT, name, answers[name])
    if options.write:
        _store(kept | new)
        print(f"{len(new)} answers stored ({len(changed)} of them new or changed), {len(kept)} left as they were")
        return 0
    gone = stored["answers"].keys() - new.keys() - kept.keys()
    for name in sorted(changed):
        print(f"{name}: {difference(stored['answers'].get(name), new[name], options.near)}")
    for name in sorted(gone):
        print(f"{name}: is stored, and there is no such input")
    for name in sorted(new.keys() & stored["answers"].keys() - changed):
        if (was := stored["answers"][name].get("err", "")) != (now := new[name].get("err", "")):
            print(f"{name}: reworded, and no mistake: {was.strip()!r} is now {now.strip()!r}")
    if changed or gone:
        print(f"{len(changed | gone)} of {len(new)} answers differ; new ones are in {OUT}")
        if (made := _made_with()) != stored.get("made_with"):
            print(f"stored with {stored.get('made_with')}, asked with {made}")
        return 1
    print(f"all {len(new)} answers are as they were stored")
    return 0


def _asked(jobs_: Sequence[Job]) -> dict[str, Answer]:
    """Return the answers to all jobs, and print the progress."""
    called = command()
    print(f"asking {getattr(sys.modules[called.__module__], '__file__', '')}", flush=True)
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as log, contextlib.redirect_stdout(io.StringIO()):
        # Most calls are of these two: import their modules once, before any fork.
        log.write(b'{"kind":"table","t":0,"seats":["Ana","Ben"],"dealer":2}\n')
        log.flush()
        for arguments in (["replay", log.name], ["explain", "--json", log.name]):
            called(arguments)
    answers: dict[str, Answer] = {}
    with ProcessPoolExecutor(os.cpu_count() or 1, multiprocessing.get_context("fork")) as pool:
        for number, done in enumerate(as_completed([pool.submit(run, job) for job in jobs_]), start=1):
            answers |= done.result()
            if number * 10 // len(jobs_) > (number - 1) * 10 // len(jobs_):
                print(f"{number} of {len(jobs_)} inputs", flush=True)
    return dict(sorted(answers.items()))


def _put(folder: Path, name: str, answer: Answer) -> None:
    """Write an output to where it can be inspected."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(answer.out)
    if answer.err:
        file.with_name(file.name + ".stderr").write_bytes(answer.err)


def _store(answers: Mapping[str, Mapping[str, Any]]) -> None:
    """Write all answers, one a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(answers[name], ensure_ascii=False)}" for name in sorted(answers)]
    text = f'{{"made_with": {json.dumps(_made_with())},\n"answers": {{\n' + ",\n".join(lines) + "\n}}\n"
    EXPECTED.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
