"""Four languages side by side: `make languages` writes out/languages.md and out/glossary.md.

The first shows rulings of every kind and the reasons that `referee explain` gives, from the games under
tests/scenarios; the second the game's own words, from tools/glossary.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from referee.announce.spoken_names import names_to_call
from referee.announce.voice import phrase
from referee.control.offers import FOULS
from referee.engine.near_misses import Considered
from referee.engine.replay import ReplayedGame
from referee.engine.rulings import SLAP_KINDS, Ruling
from referee.text.catalogue import LANGUAGES, texts
from referee.text.explanation_lines import why
from referee.text.ruling_lines import RulingWords, pretty
from tests.rules.scenes import FOLDER, SceneError, observations, sheets

OUT: Final = Path(__file__).parents[1] / "out"
WORDS: Final = Path(__file__).with_name("glossary.toml")
ROWS: Final = 100
"""Number of rulings shown."""
_FIRST: Final = "en"
CODES: Final = (_FIRST, *(code for code in ("de", "es", "fr") if code in LANGUAGES))
_TOLD: Final = ("reason", "until", "foul", "decided_by", "what", "ask", "upheld")
"""Fields whose value changes the wording of a ruling."""

_HEAD: Final = """# Four languages side by side

Written by `make languages` from the games under `tests/scenarios/`. Upright text is shown, *slanted text is spoken*;
a ruling without slanted text is left to the lights. [glossary.md](glossary.md) lists the game's own words.
"""


def played() -> Iterator[tuple[Ruling, list[str], ReplayedGame]]:
    """Yield every ruling of every scenario in force at its end, with the players' names and the game."""
    for folder in (FOLDER, FOLDER / "readings", FOLDER / "tables", FOLDER / "presets"):
        for sheet in sheets(folder):
            for scene in (*sheet.applies, *sheet.just_not):
                if scene.refused:
                    continue
                try:
                    log, names = observations(scene)
                except SceneError:
                    continue
                game = ReplayedGame(list(enumerate(log, start=1)))
                for ruling in game.rulings:
                    # A foul with a house name is shown as the house wrote it.
                    if ruling.kind != "foul" or ruling["foul"] in FOULS:
                        yield ruling, names, game


def written(ruling: Ruling, names: list[str], language: str) -> str:
    """Return the line that shows a ruling."""
    return RulingWords(names, texts(language))(ruling)


def spoken(ruling: Ruling, names: list[str], language: str) -> str:
    """Return the spoken text; empty where the voice is silent."""
    said = phrase(ruling, language, names_to_call(names))
    return "" if said is None else said.text


def shape(ruling: Ruling) -> tuple[Any, ...]:
    """Return what determines a ruling's wording, without names and numbers."""
    fields = ruling.fields
    counted = next((fields[name] == 1 for name in ("count", "left", "chances") if name in fields), None)
    return (
        ruling.kind, *(str(fields.get(name)) for name in _TOLD), counted, fields.get("margin", 0) is None,
        bool(ruling.supersedes), ruling.doubt, bool(fields.get("patterns")),
    )  # fmt: skip


def chosen(found: list[tuple[Ruling, list[str]]]) -> list[tuple[Ruling, list[str]]]:
    """Choose the rulings to show: one of each shape, then further wordings, kind by kind."""
    first: dict[Any, tuple[Ruling, list[str]]] = {}
    for ruling, names in found:
        first.setdefault(shape(ruling), (ruling, names))
    shown = {written(*example, _FIRST): example for example in first.values()}
    for ruling, names in found:
        if len(shown) >= ROWS:
            break
        shown.setdefault(written(ruling, names, _FIRST), (ruling, names))
    # If there are too many, kinds with the most shapes give way.
    kinds = [example[0].kind for example in shown.values()]
    many = {kind: kinds.count(kind) for kind in kinds}
    while len(shown) > ROWS:
        kind = max(many, key=lambda name: many[name])
        last = [line for line, example in shown.items() if example[0].kind == kind][-1]
        del shown[last]
        many[kind] -= 1
    return sorted(shown.values(), key=lambda example: example[0].kind)


def reasons(found: list[tuple[Ruling, list[str], ReplayedGame]]) -> list[tuple[Considered, list[str]]]:
    """Return one example of each check in a verdict on a hand."""
    first: dict[tuple[str, bool], tuple[Considered, list[str]]] = {}
    for ruling, names, game in found:
        if ruling.kind in SLAP_KINDS:
            for considered in game.explain(ruling).considered:
                first.setdefault((considered.what, considered.held), (considered, names))
    return [first[key] for key in sorted(first)]


def page() -> str:
    """Return the whole page of rulings."""
    found = list(played())
    titles = ["ruling", *(LANGUAGES[code] for code in CODES)]
    rulings = [
        [f"`{ruling.kind}`", *(_both(ruling, names, code) for code in CODES)]
        for ruling, names in chosen([(ruling, names) for ruling, names, _ in found])
    ]
    looked_at = [
        [
            f"`{explanation.what}`",
            *(_escaped(why(explanation, RulingWords(names, texts(code)), cards=pretty)) for code in CODES),
        ]
        for explanation, names in reasons(found)
    ]
    about = "What spoke for and against a verdict on a hand, as `referee explain` and the page say it."
    return "\n".join(
        (_HEAD, f"## {len(rulings)} rulings\n", _table(titles, rulings), "\n## Reasons and near misses\n", f"{about}\n",
         _table(["looked at", *titles[1:]], looked_at), "")
    )  # fmt: skip


def _both(ruling: Ruling, names: list[str], language: str) -> str:
    line, said = written(ruling, names, language), spoken(ruling, names, language)
    return _escaped(line) + (f"<br>*{_escaped(said)}*" if said else "")


def _escaped(text: str) -> str:
    return re.sub(r"([|*_<\[\]])", r"\\\1", text)


def _table(titles: list[str], rows: list[list[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def glossary() -> Mapping[str, Mapping[str, Any]]:
    """Return the game's own words, by their English name."""
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def glossary_page() -> str:
    """Return the whole page of words."""
    rows = []
    for term, entry in glossary().items():
        spoken_ = entry.get("spoken", {})
        words = [entry[code] + (f" (aloud: {spoken_[code]})" if code in spoken_ else "") for code in CODES]
        never = "; ".join(
            f"{code}: {', '.join(entry['never'][code])}" for code in CODES if code in entry.get("never", {})
        )
        rows.append([term, *words, never])
    head = (
        "# The game's own words\n\nWritten by `make languages` from `tools/glossary.toml`. Each language has one word "
        "for a thing, on the page and aloud;\na test reads every text of a language for the words in the last column.\n"
    )
    return "\n".join((head, _table(["", *(LANGUAGES[code] for code in CODES), "never"], rows), ""))


def main() -> None:
    """Write both pages into out/."""
    OUT.mkdir(exist_ok=True)
    for name, text in (("languages.md", page()), ("glossary.md", glossary_page())):
        (OUT / name).write_text(text, encoding="utf-8")
        print(OUT / name)


if __name__ == "__main__":
    main()
