"""Whether a language is complete: `make language-check LANGUAGE=de` lists missing and wrong texts of its two files.

`referee/text/XX.toml` holds what is read: keys as in ``en.toml``, and under ``[answer]`` the sentences of the code,
whose English is their key. `referee/announce/phrases/XX.toml` holds what is spoken. A text has the fields of the
English one, in any order, and a counted text has each plural form of its language.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Final, get_args

from pydantic import BaseModel

from referee.announce.phrases import Language, places
from referee.rules.rows import ROWS
from referee.sentence import Sentence, says_something
from referee.settings.model import Settings
from referee.text.catalogue import LANGUAGES, plural_forms, table

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = ("referee", "hardware", "models")
SPEAKING: Final[Mapping[str, int]] = {
    "Sentence": 0, "translate": 0, "UserError": 0, "Denied": 0, "CommandError": 0, "BadAnswer": 0, "Refusal": 1,
    "RulesError": 0, "SettingsError": 0, "HardwareMissing": 0, "RecordError": 0, "Spoken": 0, "tell": 0,
    "_integer": 2, "_number": 2, "_many": 1, "_need": 1,
}  # fmt: skip
"""Functions that take a sentence's template, and the argument that it is."""
_CODE_ONLY: Final = ("answer.", "kind.", "rule_with_value.")
"""Tables whose English stands in the code, or which English alone has."""
_SHORT: Final = 18
"""Characters: texts up to this length may well be the same in two languages."""


@cache
def templates() -> Mapping[str, str]:
    """Return every sentence of the code, with its first place (``file:line``)."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            # Elsewhere the word is a local name.
            speaking = {name: at for name, at in SPEAKING.items() if name != "translate" or _imports_translate(tree)}
            texts = _named_texts(tree)
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and (name := _name(node.func)) in speaking:
                    for given in _said(node, SPEAKING[name], texts):
                        found.setdefault(given, f"{path.relative_to(ROOT)}:{node.lineno}")
    for told in (*(row.allowed for row in ROWS.values()), *_described(Settings)):
        for given in _parts(told):
            found.setdefault(given, "a value of the rules or settings")
    return found


def _imports_translate(tree: ast.Module) -> bool:
    named = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    return any(name.name == "translate" for node in named for name in node.names)


def _described(model: type[BaseModel]) -> Iterator[object]:
    """Yield the description of each value of the settings."""
    for field in model.model_fields.values():
        yield field.description
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _described(kind)


def _parts(told: object) -> Iterator[str]:
    """Yield the templates of a sentence and of its meaningful parts."""
    if isinstance(told, Sentence):
        if says_something(told.template):
            yield told.template
        for field in told.fields.values():
            yield from _parts(field)


def _name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else ""


def _named_texts(tree: ast.Module) -> Mapping[str, list[ast.expr]]:
    """Return the text assigned to each name of a module."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def _said(node: ast.Call, at: int, named: Mapping[str, list[ast.expr]]) -> Iterator[str]:
    """Yield the template, or all possible ones, by name or as they stand."""
    waiting = list(node.args[at : at + 1])
    while waiting:
        match waiting.pop():
            case ast.IfExp(body=body, orelse=orelse):
                waiting += (body, orelse)
            case ast.Name(id=name):
                waiting += (text for text in named.get(name, ()) if isinstance(text, (ast.Constant, ast.IfExp)))
            case ast.Constant(value=str(text)) if says_something(text):
                yield text


def fields(text: str) -> set[str]:
    """Return the names of a text's fields."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def english_texts() -> Mapping[str, str]:
    """Return all texts that a language must have, by key: the English texts, and the sentences of the code."""
    texts = {key: text for key, text in table("en").items() if not key.startswith(_CODE_ONLY)}
    return texts | {f"answer.{template}": template for template in templates()}


def check_texts(language: str) -> Iterator[str]:
    """Yield the faults of a language's written texts, in a line each."""
    wanted, there = _with_forms(english_texts(), language), table(language)
    for key, english in wanted.items():
        if key not in there:
            yield f"missing: {key.removeprefix('answer.')} = {english!r}"
    for key, text in there.items():
        if key.startswith("kind."):
            continue
        if key not in wanted:
            yield f"nothing says this any more: {key.removeprefix('answer.')}"
        elif fields(text) != fields(wanted[key]):
            named = ", ".join(sorted(fields(wanted[key]))) or "none"
            yield f"other fields than the English text ({named}): {key.removeprefix('answer.')}"
        elif text == wanted[key] and len(text) > _SHORT and any(map(str.isalpha, text)):
            yield f"still English: {key.removeprefix('answer.')}"


def _with_forms(english: Mapping[str, str], language: str) -> dict[str, str]:
    """Return the same keys with the plural forms of a language, where English has its own two."""
    out: dict[str, str] = {}
    for key, text in english.items():
        base, _, end = key.rpartition(".")
        if end in ("one", "many") and f"{base}.one" in english and f"{base}.many" in english:
            out |= {f"{base}.{form}": english[f"{base}.many"] for form in plural_forms(language)}
        else:
            out[key] = text
    return out


def check_phrases(language: str) -> Iterator[str]:
    """Yield the faults of a language's spoken texts, in a line each."""
    english, there = Language("en").phrases, Language(language).phrases
    for key in english:
        if key not in there:
            yield f"missing: {key} = {english[key]!r}"
        elif sorted(places(english[key])) != sorted(places(there[key])):
            yield f"other places than the English phrase ({', '.join(places(english[key])) or 'none'}): {key}"
    yield from (f"nothing says this any more: {key}" for key in there if key not in english)


def check(language: str) -> list[str]:
    """Return all faults, with the files' names; a file that is no TOML is one line."""
    out: list[str] = []
    for file, look in (("text", check_texts), ("announce/phrases", check_phrases)):
        path = ROOT / "referee" / file / f"{language}.toml"
        try:
            tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            out.append(f"{path.relative_to(ROOT)}: {error}")
            continue
        out += [f"{path.relative_to(ROOT)}: {line}" for line in look(language)]
    return out


def main(argv: list[str] | None = None) -> int:
    """Check the named languages, or all; exit status 1 if a fault is found."""
    parser = argparse.ArgumentParser(prog="language_check", description=__doc__)
    parser.add_argument("language", nargs="*", help="codes such as de (default: every language but English)")
    asked: Any = parser.parse_args(argv)
    wrong = [
        line
        for language in asked.language or [language for language in LANGUAGES if language != "en"]
        for line in check(language)
    ]
    print("\n".join(wrong) or f"whole: {', '.join(asked.language or LANGUAGES)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
