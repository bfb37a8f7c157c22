"""The certificate as one page: saved as a file that needs no server, and shown on the table's page.

A browser prints it as PDF. `referee.record.certificates` defines its content.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from referee.record.certificates import GROUPS, Certificate, CertificateLine, beside_record, latest_certificate
from referee.text.catalogue import Texts
from referee.web import layout
from referee.web.layout import page, page_texts, print_button
from referee.web.markup import Child, Markup, data_table, stylesheet, tag
from referee.web.site import PageOption, Site


async def show_certificate(site: Site, request: Request) -> Response:
    """Show the latest certificate of this table."""
    words = page_texts(request)
    found = await site.run_in_worker(latest_certificate, beside_record(site.shelf.path))
    title = words("certificate.title")
    if found is None:
        content: Child = tag("p", words("certificate.standing.none"), class_="panel none")
        return page(request, title, tag("h1", title), content, here="/control")
    button = tag("p", print_button(words), class_="buttons")
    return page(
        request, title, button, list(_content(found, words)), scripts=("print.js",), body="certificate", here="/control"
    )


def certificate_document(certificate: Certificate, words: Texts) -> str:
    """Return the certificate as a self-contained file: its style is included, and it loads nothing."""
    title = words("certificate.title")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · {certificate.at[:16].replace('T', ' ')}"),
        tag("style", Markup(stylesheet() + _style())),
    )
    body = tag("body", tag("main", list(_content(certificate, words)), id="main"), class_="certificate")
    return Markup("<!doctype html>") + tag("html", head, body, lang=words.language)


@cache
def _style() -> str:
    """Return the page's style without its fonts, which a file cannot load."""
    lines = (Path(layout.__file__).with_name("static") / "page.css").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if "url(" not in line)


def _content(certificate: Certificate, words: Texts) -> Iterator[Child]:
    verdict = "passed" if certificate.passed else "failed"
    at = certificate.at[:16].replace("T", " ")
    of = words("certificate.of_simulated" if certificate.simulated else "certificate.of_table")
    yield tag(
        "header",
        tag("h1", words("certificate.title")),
        tag("p", words(f"certificate.{verdict}"), class_=f"outcome {'good' if certificate.passed else 'bad'}"),
        tag("p", f"{of} · {', '.join(certificate.seats)} · {at}", class_="note"),
        class_="certificate-head",
    )
    rows, told = list[Markup](), ""
    by_key = {line.key: line for line in certificate.lines}
    for group, keys in GROUPS.items():
        there = [by_key[key] for key in keys if key in by_key and key != "versions"]
        if there:
            rows.append(tag("tr", tag("th", words(f"certificate.group.{group}"), colspan=4, scope="rowgroup"),
                            class_="group"))  # fmt: skip
        for line in there:
            mend, said = line.mend(words), told
            told = mend
            # A missing part fails several lines: show its remedy once.
            rows += _rows(line, mend if mend != said else "", words)
    heads = [words(f"certificate.{name}") for name in ("what", "required", "measured")]
    result = tag("span", words("certificate.verdict"), class_="unseen")
    table = data_table([result, *heads], rows, words("certificate.title"))
    yield tag("section", table, class_="panel")
    yield tag("p", words("certificate.holds"), class_="note")
    yield _details(certificate, words)


def _details(certificate: Certificate, words: Texts) -> Markup:
    """Return what tells this certificate from another, and the commands that mend it."""
    parts: list[Child] = [
        words(
            "certificate.marks", machine=certificate.machine or "–", version=certificate.version,
            settings=certificate.settings,
        )
    ]  # fmt: skip
    colon = words("word.colon")
    for line in certificate.lines:
        if line.key == "versions":
            parts.append(line.name(words) + colon + line.found(words))
        elif "seal" in line.measured:
            parts.append(f"{line.name(words)}{colon}{line.measured['seal']}")
        if line.command:
            parts.append([line.name(words), colon, tag("code", line.command)])
    summary = tag("summary", words("certificate.details"))
    return tag("details", summary, tag("ul", [tag("li", part) for part in parts]), class_="panel")


def _rows(line: CertificateLine, mend: str, words: Texts) -> Iterator[Markup]:
    kind = "good" if line.passed else "bad"
    said = words("certificate.kept_limit" if line.passed else "certificate.missed_limit")
    mark = tag("span", "✓" if line.passed else "✗", role="img", aria_label=said, title=said, class_=f"mark {kind}")
    foreign = "en" if mend and mend == line.why_not else None
    yield tag(
        "tr", tag("td", mark), tag("th", line.name(words), scope="row"), tag("td", line.required(words)),
        tag("td", line.found(words), class_="found" if line.limits or not line.passed else None),
        class_=None if line.passed else "missed",
    )  # fmt: skip
    if mend:
        yield tag("tr", tag("td"), tag("td", "→ ", tag("span", mend, lang=foreign), colspan=3), class_="mend")


PAGE: Final = PageOption({"/certificate": show_certificate})
