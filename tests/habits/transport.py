"""What carries a reply, and goes wrong; the first answer to every request is spoiled."""

import gzip
import json
import zlib

from tests.habits.habit import habit
from tests.habits.meaning import Meaning, sent
from tests.llm.raw_server import endless, response, sends
from tests.scripted_server import Answer, Fault, completion


def _body(meant: Meaning) -> bytes:
    return json.dumps(completion(meant.answer())).encode()


def _bomb() -> bytes:
    """20 MiB of zeros, packed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([packer.compress(bytes(2**20)) for _ in range(20)]) + packer.flush()


BOMB = _bomb()


@habit("transport", "read", when="first")
def html_page(meant: Meaning) -> Answer:
    """a page in HTML with status 200"""
    return Fault("raw", text="<html><head><title>Sign in</title></head></html>")


@habit("transport", "read", when="first")
def html_of_a_gateway(meant: Meaning) -> Answer:
    """status 502 with a page in HTML"""
    return Fault("status", 502, "<html><h1>502 Bad Gateway</h1></html>", as_it_is=True)


@habit("transport", "read", when="first")
def no_body(meant: Meaning) -> Answer:
    """status 200 and nothing"""
    return Fault("raw")


@habit("transport", "read", when="first")
def half_a_body(meant: Meaning) -> Answer:
    """a body that ends early, and a connection that closes"""
    return Fault("cut")


@habit("transport", "read", when="first")
def connection_reset(meant: Meaning) -> Answer:
    """a connection that closes before an answer"""
    return Fault("drop")


@habit("transport", "read", when="first")
def shorter_than_said(meant: Meaning) -> Answer:
    """a Content-Length above what comes"""
    body = _body(meant)
    return response(body, length=len(body) + 50)


@habit("transport", "read", when="first")
def longer_than_said(meant: Meaning) -> Answer:
    """a Content-Length below what comes"""
    body = _body(meant)
    return response(body, length=len(body) - 20)


@habit("transport", "read", when="first")
def drip(meant: Meaning) -> Answer:
    """a byte now and then, without end"""
    return endless(b" ", pause=0.1, head=b"HTTP/1.1 200 OK\r\n\r\n{")


@habit("transport", "read", when="first")
def endless_body(meant: Meaning) -> Answer:
    """a body without end"""
    return endless(b"x" * 65_536)


@habit("transport", "read", when="first")
def gzip_bomb(meant: Meaning) -> Answer:
    """20 MiB of zeros, packed in 20 KB"""
    return response(BOMB, "Content-Encoding: gzip")


@habit("transport", "read")
def packed_body(meant: Meaning) -> Answer:
    """an honest body, packed with gzip"""
    return response(gzip.compress(_body(meant)), "Content-Encoding: gzip")


@habit("transport", "read")
def chunks(meant: Meaning) -> Answer:
    """a body in chunks of seven bytes"""
    body = _body(meant)
    parts = [body[at : at + 7] for at in range(0, len(body), 7)]
    sized = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + sized + b"0\r\n\r\n")


@habit("transport", "read")
def old_http(meant: Meaning) -> Answer:
    """HTTP/1.0 without a length: the body ends with the connection"""
    return sends(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + _body(meant))


@habit("transport", "read", when="first")
def no_http(meant: Meaning) -> Answer:
    """an answer of another protocol"""
    return sends(b"SSH-2.0-OpenSSH_9.6\r\n")


@habit("transport", "read", when="first")
def hangs(meant: Meaning) -> Answer:
    """no answer at all until the timeout"""
    return Fault("hang")


@habit("transport", "read", when="first")
def invalid_utf8(meant: Meaning) -> Answer:
    """bytes that are not UTF-8"""
    return response(_body(meant).replace(b'"content": "', b'"content": "\xff\xfe'))


@habit("transport", "read", when="first")
def cut_surrogate(meant: Meaning) -> Answer:
    """half of a surrogate pair in the text"""
    return response(_body(meant).replace(b'"content": "', b'"content": "\\ud83d'))


@habit("transport", "read")
def byte_order_mark(meant: Meaning) -> Answer:
    """a byte order mark before the JSON"""
    return response(b"\xef\xbb\xbf" + _body(meant))


@habit("transport", "read", when="first")
def events(meant: Meaning) -> Answer:
    """server-sent events, which were not asked for"""
    return Fault("raw", text='data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n')


@habit("transport", "read", when="first")
def no_choices(meant: Meaning) -> Answer:
    """an empty list of choices"""
    return sent({**completion(""), "choices": []})


@habit("transport", "read", when="first")
def error_with_status_200(meant: Meaning) -> Answer:
    """an error in JSON, with status 200"""
    return Fault("raw", text='{"error": {"message": "upstream is overloaded", "code": 502}}')


@habit("transport", "read")
def usage_missing(meant: Meaning) -> Answer:
    """no `usage`"""
    body = completion(meant.answer())
    del body["usage"]
    return sent(body)


@habit("transport", "read")
def usage_of_nulls(meant: Meaning) -> Answer:
    """`usage` with nulls"""
    nulls = {"prompt_tokens": None, "completion_tokens": None, "prompt_tokens_details": None}
    return sent({**completion(meant.answer()), "usage": nulls})


@habit("transport", "read")
def usage_of_nonsense(meant: Meaning) -> Answer:
    """`usage` with negative numbers and texts"""
    odd = {"prompt_tokens": -5, "completion_tokens": "many", "total_tokens": 1e300}
    return sent({**completion(meant.answer()), "usage": odd})


@habit("transport", "read")
def fewest_fields(meant: Meaning) -> Answer:
    """nothing but the choice with its message"""
    return sent({"choices": [{"message": {"content": meant.answer()}}]})


@habit("transport", "read")
def blank_lines_first(meant: Meaning) -> Answer:
    """blank lines before the JSON, sent to keep the connection"""
    return sends(b"HTTP/1.1 200 OK\r\n\r\n", b"\n" * 40, b"\n \n", _body(meant))


@habit("transport", "read")
def early_hints(meant: Meaning) -> Answer:
    """status 103 before the answer"""
    body = _body(meant)
    last = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    return sends(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", last + body)


@habit("transport", "read", when="first")
def two_bodies(meant: Meaning) -> Answer:
    """the JSON, and the same again behind it"""
    return response(_body(meant) * 2)


@habit("transport", "read", when="first")
def old_completion(meant: Meaning) -> Answer:
    """`text` in the choice, as in completions without messages"""
    return sent({"choices": [{"text": meant.answer(), "finish_reason": "stop"}]})


@habit("transport", "read", when="first")
def delta(meant: Meaning) -> Answer:
    """`delta` in the choice, as in a stream"""
    return sent({"choices": [{"delta": {"content": meant.answer()}}]})


@habit("transport", "read", when="first")
def latin_1(meant: Meaning) -> Answer:
    """another encoding than UTF-8"""
    body = {**completion(meant.answer()), "model": "modèle"}
    return response(json.dumps(body, ensure_ascii=False).encode("latin-1"))


@habit("transport", "read", when="first")
def redirect_for_a_moment(meant: Meaning) -> Answer:
    """a redirect once for each request, between answers"""
    return response(b"", "Location: https://login.example/", status="302 Found")
