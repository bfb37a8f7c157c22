"""Mutation testing of the core: does a test fail when the code is wrong? ``make mutants N=500 SEED=1``

A seeded sample of all mutants of ``referee/rules`` and ``referee/engine`` is put in one by one, each in a process
forked from one that has imported everything and collected every test. A mutant in a function replaces
that function's code object; a mutant that takes effect at import is put in by importing everything anew. The tests
that execute its line run, the quickest first, until one fails.

Why not an existing tool: mutmut 3 leaves out decorated functions (all patterns here), properties and tables at the
top of a module, and chooses tests by function; cosmic-ray writes each mutant into the checkout and starts Python anew.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, NoReturn

import hypothesis  # noqa: F401 - imported once, before anything is forked
import pytest

from tools.mutations import Mutant, mutants_of, mutated

ROOT: Final = Path(__file__).parent.parent
OUT: Final = ROOT / "build" / "mutants"
"""Where the outcome is written; the copy of the project and its measurements lie there too."""
EQUIVALENT: Final = Path(__file__).parent / "equivalent_mutants.toml"
PACKAGES: Final = ("referee/rules", "referee/engine")
TESTS: Final = (
    "tests/rules",
    "tests/engine",
    "tests/cli/test_explain.py",
    "tests/cli/test_rules_command.py",
    "tests/cli/test_fuzz.py",
    "tests/control/test_commands.py",
    "tests/web/test_page_board.py",
    "tests/web/test_page_disputes.py",
    "tests/web/test_page_figures.py",
    "tests/web/test_page_finish.py",
    "tests/table/test_pause.py",
    "tests/test_documents.py",
)
FEWER: Final = {"GAMES": "40", "FUZZ": "60", "LAW_EXAMPLES": "6"}
"""Random games are shorter here, because they run once for every survivor."""
PATIENCE: Final = (3.0, 10.0)
"""Processor seconds for one test, and its allowed multiple of the time without a mutant."""
WALL: Final = 600
"""Seconds for all tests of a mutant: one that waits uses no processor time. Without a mutant nothing waits for ever."""
MEMORY: Final = 4 << 30
SURVIVED, KILLED, IMPOSSIBLE = 0, 1, 77


class Measure:
    """A pytest plugin: which lines each test executes, and how long it takes."""

    def __init__(self) -> None:
        import coverage

        self.coverage = coverage.Coverage(data_file=None, include=[f"{ROOT}/{package}/*" for package in PACKAGES])
        self.seconds: dict[str, float] = {}

    def start(self) -> None:
        """Record lines executed while the core is imported under that name."""
        self.coverage.start()
        self.coverage.switch_context("import")
        for path in _sources():
            module = importlib.import_module(_module(path))
            assert Path(str(module.__file__)).is_relative_to(ROOT), f"{module.__file__} is not the copy's"
        self.coverage.switch_context("collect")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        begun = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - begun
        self.coverage.switch_context("collect")
        return result

    def lines(self) -> dict[str, dict[int, list[str]]]:
        """Tests that execute a line, by path and line."""
        self.coverage.stop()
        data = self.coverage.get_data()
        return {str(Path(file).relative_to(ROOT)): data.contexts_by_lineno(file) for file in data.measured_files()}


class Chosen:
    """A pytest plugin: run only these tests, in this order."""

    def __init__(self, names: Sequence[str], seconds: dict[str, float]) -> None:
        self.place = {name: place for place, name in enumerate(names)}
        self.seconds = seconds

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.place), key=lambda i: self.place[i.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        _time_limit(self.seconds[item.nodeid])
        return (yield)


class Forks:
    """A pytest plugin: instead of running the tests once, fork for every mutant, and run the chosen ones."""

    def __init__(
        self, tasks: Iterable[tuple[Mutant, list[str]]], seconds: dict[str, float], tell: NoticeListener
    ) -> None:
        self.tasks = tasks
        self.seconds = seconds
        self.tell = tell

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        if _in_a_fork(lambda: self._run(session, [items[name] for name in self.seconds]), wall=0) != SURVIVED:
            sys.exit("the tests fail in this order without any mutant")
        for mutant, names in self.tasks:
            self.tell(mutant, _in_a_fork(functools.partial(self._try, session, items, mutant, names)))
        return True

    def _try(self, session: pytest.Session, items: dict[str, pytest.Item], mutant: Mutant, names: list[str]) -> int:
        return self._run(session, [items[name] for name in names]) if _swap(mutant) else IMPOSSIBLE

    def _run(self, session: pytest.Session, chosen: list[pytest.Item]) -> int:
        for item, after in zip(chosen, [*chosen[1:], None], strict=True):
            _time_limit(self.seconds[item.nodeid])
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if session.testsfailed:
                return KILLED
        return SURVIVED


NoticeListener = Callable[[Mutant, int], None]


def _sources() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).glob("*.py"))]


def _module(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def _quiet() -> None:
    """Discard all output of the tests."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _time_limit(seconds: float) -> None:
    """Limit the processor time of the next test; beyond it the process is killed."""
    least, times = PATIENCE
    # Processor time, not wall time: a busy machine kills no test. SIGPROF without a handler ends the process.
    signal.setitimer(signal.ITIMER_PROF, least + times * seconds)


def _in_a_fork(run: Callable[[], int], wall: int = WALL) -> int:
    """Run ``run`` in a forked process; return its result, or minus the signal that ended it.

    ``wall``: its limit in seconds; 0 for none.
    """
    child = os.fork()
    if not child:
        code = KILLED
        try:
            _quiet()
            signal.alarm(wall)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            code = run()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _pytest(plugin: object, *files: str) -> int:
    quiet = ("-qq", "-s", "-x", "-W", "ignore", "--no-summary", "-p", "no:cacheprovider", "--rootdir", str(ROOT))
    return int(pytest.main([*quiet, *(files or TESTS)], plugins=[plugin]))


def _measured() -> tuple[dict[str, dict[int, list[str]]], dict[str, float]]:
    """Run every test once; return `Measure.lines`, and the seconds of each test, the quickest first."""
    file = OUT / "measured.pickle"

    def run() -> int:
        measure = Measure()
        measure.start()
        code = _pytest(measure)
        file.write_bytes(pickle.dumps((measure.lines(), measure.seconds)))
        return code

    if _in_a_fork(run, wall=0):
        sys.exit("the tests fail without any mutant; see: make test")
    lines, seconds = pickle.loads(file.read_bytes())
    return lines, dict(sorted(seconds.items(), key=lambda pair: pair[1]))


# Putting a mutant in.


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module with a mutant in it."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.path = ROOT / mutant.path

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _module(self.path):
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(_compiled(self.mutant), module.__dict__)


def _compiled(mutant: Mutant) -> CodeType:
    path = ROOT / mutant.path
    return compile(mutated(path.read_text(encoding="utf-8"), mutant.number), str(path), "exec", dont_inherit=True)


def _swap(mutant: Mutant) -> bool:
    """Give the live functions that a mutant changes their new code; return whether that was possible."""
    path = ROOT / mutant.path
    before = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
    changed = dict(_changes(before, _compiled(mutant)))
    swapped = False
    for thing in gc.get_objects():
        if isinstance(thing, functools._lru_cache_wrapper) and str(thing.__module__).startswith("referee."):
            thing.cache_clear()
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == str(path) and thing.__code__ in changed:
            try:
                thing.__code__ = changed[thing.__code__]
            except ValueError:
                return False
            swapped = True
    return swapped


def _changes(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield pairs of code objects of functions that differ, inner ones too where both have as many."""
    inner = [const for const in before.co_consts if isinstance(const, CodeType)]
    others = [const for const in after.co_consts if isinstance(const, CodeType)]
    if len(inner) != len(others):
        return
    for one, other in zip(inner, others, strict=True):
        if one != other:
            yield one, other
            yield from _changes(one, other)


def _imported_anew(mutant: Mutant, names: list[str], seconds: dict[str, float]) -> int:
    """Collect and run file by file, the quickest first: collecting them all takes longer than most mutants live."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("referee", "tests"):
            del sys.modules[name]
    sys.meta_path.insert(0, _Finder(mutant))
    files: defaultdict[str, float] = defaultdict(float)
    for name in names:
        files[name.partition("::")[0]] += seconds[name]
    for file in sorted(files, key=files.__getitem__):
        _time_limit(1.0)
        if _pytest(Chosen(names, seconds), file) not in (0, 5):
            return KILLED
    return SURVIVED


# The whole run.


class Tests:
    """The tests to run for a mutant."""

    def __init__(self, lines: dict[str, dict[int, list[str]]], seconds: dict[str, float]) -> None:
        self.lines = lines
        self.seconds = seconds
        self.quickest_first = list(seconds)

    def of(self, mutant: Mutant) -> list[str]:
        """Return the tests that can notice it, the quickest first."""
        if self.at_import(mutant):
            return self.quickest_first
        return [name for name in self.quickest_first if name in self._executing(mutant)]

    def at_import(self, mutant: Mutant) -> bool:
        """Whether it takes effect when the module is imported."""
        return not mutant.scope or "import" in self._executing(mutant)

    @functools.cache  # noqa: B019 - there is one of these
    def _executing(self, mutant: Mutant) -> frozenset[str]:
        by_line = self.lines.get(mutant.path, {})
        inside = {*by_line.get(mutant.line, ()), *by_line.get(mutant.statement, ())}
        # A lambda's line is executed at import, its body when it is called.
        return frozenset(inside - {"import"} if "<lambda>" in mutant.scope else inside)


def in_a_copy(arguments: Sequence[str]) -> NoReturn:
    """Restart in a copy of the project, so that edits to the checkout change nothing half way."""
    copy = OUT / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    os.chdir(copy)
    os.execv(sys.executable, [sys.executable, "-m", "tools.mutants", *arguments, "--out", str(OUT)])


def run(count: int, seed: int, only: str, out: Path) -> None:
    """Try a sample of mutants; print the outcome, and write the survivors into a file."""
    os.chdir(ROOT)
    os.environ.update(FEWER)
    sys.path[0] = str(ROOT)
    OUT.mkdir(parents=True, exist_ok=True)
    everything = [
        mutant
        for path in _sources()
        for mutant in mutants_of(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
        if only in str(path)
    ]
    sample = random.Random(seed).sample(everything, min(count, len(everything)))
    begun = time.monotonic()
    tests = Tests(*_measured())
    print(f"{len(everything)} mutants, {len(sample)} of them tried; {len(tests.seconds)} tests", flush=True)
    became: dict[Mutant, str] = {}

    def tell(mutant: Mutant, code: int) -> None:
        if code == IMPOSSIBLE:
            code = _in_a_fork(lambda: _imported_anew(mutant, tests.of(mutant), tests.seconds))
        became[mutant] = _word(code)
        if became[mutant] != "killed":
            print(f"{became[mutant]}: {mutant}", flush=True)
        if len(became) % 50 == 0:
            print(f"  {len(became)} in {time.monotonic() - begun:.0f} s: {dict(Counter(became.values()))}", flush=True)

    covered = {mutant: tests.of(mutant) for mutant in sample}
    became.update((mutant, "survived") for mutant in sample if not covered[mutant])
    left = [mutant for mutant in sample if mutant not in became]
    for mutant in filter(tests.at_import, left):
        tell(mutant, IMPOSSIBLE)
    _pytest(Forks([(mutant, covered[mutant]) for mutant in left if mutant not in became], tests.seconds, tell))
    _report(became, covered, out / f"survivors-{seed}.txt", time.monotonic() - begun)


def _word(code: int) -> str:
    if code in (-signal.SIGPROF, -signal.SIGALRM):
        return "timed out"
    return "survived" if code == SURVIVED else "killed"


def _report(became: dict[Mutant, str], covered: dict[Mutant, list[str]], file: Path, seconds: float) -> None:
    reasons = _equivalent()
    tally = Counter(became.values())
    left = sorted((m for m, word in became.items() if word != "killed"), key=lambda m: (m.path, m.line, m.number))
    same = [m for m in left if became[m] == "survived" and _key(m) in reasons]
    words = []
    for mutant in left:
        note = "timed out" if became[mutant] == "timed out" else "" if covered[mutant] else "no test executes it"
        note = f"equivalent: {reasons[_key(mutant)]}" if mutant in same else note
        words.append(f"{mutant}" + (f"\n    ({note})" if note else ""))
    file.write_text("\n".join(words) + "\n", encoding="utf-8")
    print(f"killed {tally['killed']}, survived {tally['survived']}, timed out {tally['timed out']} of {len(became)}")
    print(f"{tally['killed'] / max(len(became) - tally['timed out'], 1):.1%} of those that did not time out are killed")
    print(f"{len(same)} of the survivors change nothing that anybody could see (tools/{EQUIVALENT.name} says why)")
    print(f"survivors: {file}; {seconds:.0f} s")


def _key(mutant: Mutant) -> tuple[str, str, str, str]:
    return mutant.path, mutant.scope, mutant.what, mutant.text


def _equivalent() -> dict[tuple[str, str, str, str], str]:
    """Return why some mutants behave as the code does."""
    if not EQUIVALENT.exists():
        return {}
    said: list[dict[str, Any]] = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(entry["path"], entry["scope"], entry["what"], entry["text"]): entry["why"] for entry in said}


def main() -> NoReturn:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the paths")
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.out is None:
        in_a_copy(sys.argv[1:])
    run(said.count, said.seed, said.only, said.out)
    sys.exit(0)


if __name__ == "__main__":
    main()
