"""Links of rendered pages, changed so that they lead to files or to parts of one file.

Pages escape every text, so no text of a conversation looks like an attribute here.
"""

import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

_LINK = re.compile(r'\s(href|src|action|data-(?:up|prev|next|events|load))="([^"]*)"')
_ID = re.compile(r'\s(id|aria-labelledby|data-m|href)="([^"]*)"')
_NAME = re.compile(r'(<details[^>]*?)\sname="[^"]*"')
_MAIN = re.compile(r"<main[^>]*>(.*)</main>", re.DOTALL)


class Address(NamedTuple):
    """An address of a page: `/t/3f2a?metric=core.novelty#debate` in parts."""

    parts: tuple[str, ...]
    query: Mapping[str, str]
    fragment: str


def main_of(html: str) -> str:
    """What a page shows, without its head and its navigation."""
    found = _MAIN.search(html)
    return found[1] if found else html


def linked(html: str, to: Callable[[Address], str | None]) -> str:
    """The page with each address of its own changed by `to`; a link to None is dropped."""

    def changed(found: re.Match[str]) -> str:
        name, value = found[1], unescape(found[2])
        if not value.startswith("/"):
            return found[0]
        new = to(_address(value))
        return "" if new is None else f' {name}="{escape(new)}"'

    return _LINK.sub(changed, html)


def within(html: str, prefix: str) -> str:
    """A part of a larger page: ids and what refers to them begin with `prefix`.

    All its ratings can be open at once, so that they can be printed.
    """

    def changed(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if name == "href":
            return f' href="#{prefix}{value[1:]}"' if value.startswith("#") else found[0]
        return f' {name}="{" ".join(prefix + word for word in value.split())}"'

    return _NAME.sub(r"\1", _ID.sub(changed, html))


def _address(value: str) -> Address:
    where = urlsplit(value)
    parts = tuple(unquote(part) for part in where.path.split("/") if part)
    return Address(parts, dict(parse_qsl(where.query)), where.fragment)
