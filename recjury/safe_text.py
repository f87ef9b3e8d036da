"""Text that is safe to show: without secrets, and with control characters written out.

docs/telemetry.md says what is hidden. Matching takes time linear in the length of the text: long
parts are possessive or bounded, and a match can begin only at the beginning of a word.
"""

import re

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

_secrets: list[str] = []


def hide_secret(secret: str) -> None:
    """Hide `secret` (an API key that was read) in everything that is logged from now on."""
    if secret and secret not in _secrets:
        _secrets.append(secret)
        _secrets.sort(key=len, reverse=True)  # one secret may be the beginning of another


def is_sensitive(field: str, value: object) -> bool:
    """Whether a field with this name contains a secret; a number, such as a token count, does
    not."""
    return not isinstance(value, int | float) and bool(_SENSITIVE_FIELD.search(field))


def without_secrets(text: str) -> str:
    """`text` without known secrets and without text that looks like a secret.

    At most 20,000 characters are kept; then "..." follows.
    """
    for secret in _secrets:
        text = text.replace(secret, HIDDEN)
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "..."
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def printable(text: str) -> str:
    r"""`text` with control characters written out (`\x1b`), except tab and newline."""
    return _CONTROLS.sub(lambda found: _spelled(ord(found[0])), text)


def _spelled(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
