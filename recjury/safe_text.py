"""Text that is safe to store and to show: without keys, and with control characters written out.

`without_keys` removes the keys that were read, and everything that is stored, logged, shown or
exported passes it. `without_secrets` also removes what looks like a key, which only logs can bear:
docs/telemetry.md says what it hides. Both take time linear in the length of the text: long parts
of patterns are possessive or bounded, and a match can begin only at the beginning of a word.
"""

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import takewhile
from string import hexdigits
from urllib.parse import quote

HIDDEN = "[key]"
"""The text that replaces a secret."""

_LONGEST = 20_000
# Control characters (C0 without tab and newline, DEL, C1) and lone surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_ENDINGS = ("key", "token", "secret", "passwd", "password", "signature")
_HEADERS = ("authorization", "cookie")
# A field that counts tokens (`prompt_tokens`) is not secret.
_SENSITIVE_FIELD = re.compile(rf"(?:{'|'.join((*_ENDINGS, *_HEADERS))})\Z", re.IGNORECASE)


def _assigned(endings: tuple[str, ...], value: str) -> re.Pattern[str]:
    """A word with one of these endings and a sign of assignment (group 1), then its value."""
    ends = "|".join(f"(?<={ending})" for ending in endings)
    name = rf"(?<![\w.-])[\w.-]++(?:{ends})"
    return re.compile(rf"({name}\\*+[\"']?\s*+[=:]\s*+\\*+)(?!\[){value}", re.IGNORECASE)


_QUOTED = r"\"[^\"\n]*+\"?|'[^'\n]*+'?"
_BARE = r"[^\s&\"',;)}\\]++"
_COUNT = r"\d{1,12}(?![^\s&\"',;)}\\])"
_PATTERNS = (
    (re.compile(r"\b(Bearer|Basic)\s++[^\s\"',;]++", re.IGNORECASE), rf"\1 {HIDDEN}"),
    # The user and the password of a URL. The password may contain a slash; a port is no password.
    (re.compile(r"(://)[^/\s]+@"), rf"\1{HIDDEN}@"),
    (re.compile(r"(://)[^/\s@:]++:(?!\d{1,5}(?:[/?#]|\s|\Z))[^\s@]{1,256}+@"), rf"\1{HIDDEN}@"),
    (
        _assigned(_HEADERS[:1], rf"(?:{_QUOTED}|[\w-]++ ++{_BARE}|{_BARE})"),
        rf"\1{HIDDEN}",
    ),
    (_assigned(_HEADERS[1:], rf"(?:{_QUOTED}|[^\r\n\"']++)"), rf"\1{HIDDEN}"),
    (_assigned(("token",), rf"(?!{_COUNT})(?:{_QUOTED}|{_BARE})"), rf"\1{HIDDEN}"),
    (
        _assigned(tuple(e for e in _ENDINGS if e != "token"), rf"(?:{_QUOTED}|{_BARE})"),
        rf"\1{HIDDEN}",
    ),
    # Keys of OpenAI, GitHub, Hugging Face, AWS, Slack and Google, and JSON web tokens.
    (
        re.compile(
            r"\b(?:sk-[\w-]{6,}+|gh[pousr]_\w{16,}+|github_pat_\w{16,}+|hf_\w{16,}+"
            r"|A[KS]IA[A-Z0-9]{16}|xox[abeprs]-[\w-]{10,}+|AIza[\w-]{30,}+)"
            r"|(?<![\w-])eyJ[\w-]{8,}+\.[\w.-]{8,}+"
        ),
        HIDDEN,
    ),
)

_SHORTEST = 8
_SHORTEST_OF_HEX = 12  # eight hex digits occur in ids
_LONGEST_WORD = 15
_SIGNS = (
    "_.~+/=%-"  # no part of letters, digits and these reaches from one value of JSON to the next
)

_known: dict[str, tuple[str, ...]] = {}
"""The keys in each form that they may be written in, with its parts."""


def hide_secret(secret: str | bytes) -> None:
    """Remove `secret` (an API key that was read) from what is stored, logged, shown or exported.

    Bytes are removed as hex digits; a text as it is, and in its forms in JSON, HTML, URLs and
    base64. Of each form, a beginning or an end of 8 characters is removed, too, and any other part
    of 15 (of hex digits: 12 and 23). What has fewer than 8 characters, is a number or could be a
    word is no secret, and not taken for a part of one: too much else would match.
    """
    global _known  # bound anew, because other threads read it
    known = dict(_known)
    for form in [secret.hex()] if isinstance(secret, bytes) else _forms(secret):
        known.setdefault(form, (form,))
        plain = (sign if sign.isalnum() or sign in _SIGNS else " " for sign in form)
        runs = (run for run in "".join(plain).split() if len(run) >= _SHORTEST)
        known.update((run, _parts(run)) for run in runs)
    _known = known


def hide_environment() -> None:
    """Hide the passwords in URLs of the environment, and its variables that are named for secrets.

    A file's path, which such a variable may have, is no secret.
    """
    for name, value in os.environ.items():
        if "://" in value:
            host = value.partition("://")[2].partition("/")[0]
            hide_secret(host.rpartition("@")[0].partition(":")[2])
        elif is_sensitive(name, value) and not os.path.exists(value):
            hide_secret(value)


def _forms(secret: str) -> Iterator[str]:
    if len(secret) < _SHORTEST or _is_common(secret):
        return
    plain = secret.encode("utf-8", "surrogateescape")
    escaped = json.dumps(secret)[1:-1]
    yield from (secret, escaped, escaped.replace("/", r"\/"), quote(plain, safe=""), escape(secret))
    for before, first in enumerate((0, 2, 3)):  # what stands before it in base64, as "user:" does
        size = (before + len(plain)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + plain)[first:size].decode()


def _parts(form: str) -> tuple[str, ...]:
    """The beginning and the end of `form`, and pieces between: each part of twice their length
    holds one."""
    size = _SHORTEST_OF_HEX if set(form) <= set(hexdigits) else _SHORTEST
    pieces = (form[start : start + size] for start in range(0, len(form) - size + 1, size))
    parts = dict.fromkeys((*pieces, form[-size:]))
    return tuple(part for part in parts if not _is_common(part)) or (form,)


def _is_common(text: str) -> bool:
    is_word = text.isalpha() and text[1:].islower() and len(text) <= _LONGEST_WORD
    return is_word or text.isdigit()


def without_keys(text: str) -> str:
    """`text` with "[key]" in place of the keys that were read (`hide_secret`)."""
    known = _known
    for parts in known.values():
        for part in parts:
            if part in text:
                return _without(known, text)
    return text


def _without(known: Mapping[str, tuple[str, ...]], text: str) -> str:
    for form in sorted(known, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    for form, parts in known.items():
        for part in parts:
            text = _cut(text, form, part)
    return text


def _cut(text: str, form: str, part: str) -> str:
    """`text` without `part`, and without what stands around it there as in `form`."""
    before, _, after = form.partition(part)
    pieces, done = [], 0
    while (at := text.find(part, done)) >= 0:
        end = at + len(part)
        own = text[max(done, at - len(before)) : at]
        at -= _length_in_common(own[::-1], before[::-1])
        end += _length_in_common(text[end : end + len(after)], after)
        pieces += [text[done:at], HIDDEN]
        done = end
    return "".join([*pieces, text[done:]])


def _length_in_common(a: str, b: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def is_sensitive(field: str, value: object) -> bool:
    """Whether a field with this name contains a secret; a number, such as a token count, does
    not."""
    return not isinstance(value, int | float) and bool(_SENSITIVE_FIELD.search(field))


def without_secrets(text: str) -> str:
    """`text` without the keys that were read and without text that looks like a secret.

    At most 20,000 characters are kept; then "..." follows.
    """
    text = without_keys(text)
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "..."
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def printable(text: str) -> str:
    r"""`text` without keys, and with control characters written out (`\x1b`), except tab and
    newline."""
    return _CONTROLS.sub(lambda found: _spelled(ord(found[0])), without_keys(text))


def _spelled(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


hide_environment()
