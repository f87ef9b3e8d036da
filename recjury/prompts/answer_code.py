"""The code that an answer must carry, so that a quotation is never read as the answer.

A template has `{{ code }}` in its last part, where the form of the answer stands. The code is made
of the text before that part, or of as much of it as holds text under test. The same prompt
therefore has the same code in every run, and prompts of different conversations have different
codes. Codes are short, so a text that holds its own code can be found by trial. A code that the
prompt already holds is therefore passed over, and the next one is taken.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

from recjury.prompts.pack import CODE, without_marks
from recjury.records import Message

_LETTERS, _DIGITS, _PAIRS = "abcdefghjkmnpqrstuvwxyz", "0123456789", 3
_WRITTEN = re.compile(r'code"?[=:] ?"([a-z][0-9][a-z][0-9][a-z][0-9])"')
_ESCAPED = re.compile(
    r"&(?:amp;)*#(?:x(?P<hex>[0-9a-f]{1,6})|(?P<dec>[0-9]{1,6}));?|\\+(?:u00|x)(?P<json>[0-9a-f]{2})",
    re.IGNORECASE,
)
_OTHERS = bytes(sign for sign in range(128) if not chr(sign).isalnum())
_MOST_PASSED_OVER = 1000  # a text of more than 20 MB may hold every code


def with_code(messages: Sequence[Message], shown: Sequence[str] = ()) -> tuple[Message, ...]:
    """`messages` with the code in place of `{{ code }}` in the last part of the last message.

    The code is made of all text up to the last part that holds one of `shown`, the texts under
    test, so that prompts which ask something else about the same texts share it and the store keeps
    their form once. Without `shown`, or if no part holds any of it, the code is made of all text
    before its part. Raises ValueError if the last part has no place for it, or if no text stands
    before that part.
    """
    *before, last = messages
    *parts, form = last.parts
    if CODE not in form:
        raise ValueError("the last part of the prompt has no place for the answer's code")
    earlier = [*(part for message in before for part in message.parts), *parts]
    if not any(earlier):
        raise ValueError("there is no text before the answer's code to make it of")
    texts = [without_marks(text) for text in shown if text]
    holding = [n for n, part in enumerate(earlier, 1) if any(text in part for text in texts)]
    made_of = "".join(earlier[: holding[-1]] if holding else earlier)
    held = _letters_and_digits("".join(earlier))
    code = _code(hashlib.sha256(_encoded(made_of)).digest(), held)
    return (*before, Message(last.role, (*parts, form.replace(CODE, code))))


def code_of(messages: Sequence[Message]) -> str:
    """The code that a prompt asks for; empty if it asks for none.

    A code counts only if it is made of parts before its own: the text under test may hold others.
    What follows that part, such as a note that asks again, does not matter.
    """
    hashed = hashlib.sha256()
    made: list[bytes] = []
    earlier = found = ""
    for part in (part for message in messages for part in message.parts):
        if written := _WRITTEN.findall(part):
            held = _letters_and_digits(earlier)
            codes = {_code(digest, held) for digest in made}
            found = next((code for code in written if code in codes), found)
        hashed.update(_encoded(part))
        earlier += part
        if earlier:
            made.append(hashed.digest())
    return found


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _code(digest: bytes, held: bytes) -> str:
    """The first code made of `digest` that is not in `held`, the text before it."""
    code = _spelled(digest)
    for _ in range(_MOST_PASSED_OVER):
        if code.encode() not in held:
            break
        digest = hashlib.sha256(digest).digest()
        code = _spelled(digest)
    return code


def _letters_and_digits(text: str) -> bytes:
    """The letters and digits of `text`, in lower case: as it is, and with its escapes replaced.

    A model may change such things when it quotes, and a reader of JSON replaces escapes.
    """
    plain = _ESCAPED.sub(_unescaped, text) if "#" in text or "\\" in text else text
    return b" ".join(map(_bare, {text, plain}))


def _unescaped(escape: re.Match[str]) -> str:
    number = int(escape["hex"] or escape["json"], 16) if escape["dec"] is None else escape["dec"]
    return chr(int(number) % 128)


def _bare(text: str) -> bytes:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).casefold()
    return text.encode("ascii", "ignore").lower().translate(None, delete=_OTHERS)


def _spelled(digest: bytes) -> str:
    """Letters and digits in turn: such a code is neither a word nor a number."""
    number = int.from_bytes(digest[:8], "big")
    code = ""
    for _ in range(_PAIRS):
        number, letter = divmod(number, len(_LETTERS))
        number, digit = divmod(number, len(_DIGITS))
        code += _LETTERS[letter] + _DIGITS[digit]
    return code
