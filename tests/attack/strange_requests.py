"""Requests over HTTP as strangers send them: bytes, and how they are sent."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from tests.attack.strange import THEMES, VALUES, plain, strange

__all__ = ["GOOD", "MAX_BODY", "REQUESTS", "Sent"]

MAX_BODY = 2**20  # bytes of the server that is attacked
GOOD = {"title": "pear", "price": 3.5, "colour": "r", "since": "2010-01-02"}
_COLUMNS = list(GOOD)
_JSON = b"application/json"
_FORM = b"application/x-www-form-urlencoded"


@dataclass
class Sent:
    """What is sent on one connection.

    Parameters
    ----------
    pieces : list of bytes
        Sent one after the other.
    n_replies : int or None
        Number of replies that must come; None if the server may close instead, or wait.
    pause : float
        Seconds between the pieces.
    end : {"", "half", "reset"}
        What happens after the last piece: nothing, the client sends no more, or it is gone.
    """

    pieces: list[bytes]
    n_replies: int | None = 1
    pause: float = 0.0
    end: str = ""


def _head(
    method: bytes, path: bytes, headers: list[tuple[bytes, bytes]], version: bytes = b"1.1"
) -> bytes:
    lines = [method + b" " + path + b" HTTP/" + version, *(n + b": " + v for n, v in headers)]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _post(
    path: bytes, body: bytes, media: bytes = _JSON, *more: tuple[bytes, bytes], close: bool = True
) -> bytes:
    headers = [(b"Host", b"x"), (b"Content-Type", media), *more]
    if not any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in more):
        headers.append((b"Content-Length", str(len(body)).encode()))
    if close:
        headers.append((b"Connection", b"close"))
    return _head(b"POST", path, headers) + body


def _path(rng: Random) -> bytes:
    return rng.choice((b"/predict", b"/suggest", b"/predict", b"/v1/projects/goods/suggest-batch"))


def _dumped(value: Any, rng: Random) -> bytes:
    text = json.dumps(value, ensure_ascii=rng.random() < 0.7, default=str)
    return text.encode("utf-8", "surrogatepass")


def _row(rng: Random) -> dict[str, Any]:
    makers: list[Callable[[Random], Any]] = [plain, VALUES["scalars"], *THEMES.values()]
    row = {name: rng.choice(makers)(rng) for name in _COLUMNS}
    if rng.random() < 0.05:
        row[rng.choice(_COLUMNS)] = VALUES["JSON"](rng)
    return row


# ---------------------------------------------------------------------- kinds of requests


def cells(rng: Random) -> Sent:
    """Rows with the columns of the model and cells of every kind."""
    rows = [_row(rng) for _ in range(rng.choice((1, 1, 3, 20)))]
    return Sent([_post(_path(rng)[:8], _dumped({"rows": rows}, rng))])


def questions(rng: Random) -> Sent:
    """Fields that are missing, unknown, doubled or of other types."""
    fields: dict[str, Any] = rng.choice(({"rows": [dict(GOOD)]}, {"text": strange(rng)}))
    options = {"limit": (0, 1, 1000), "threshold": (0, 0.5, 1e-300, 1), "language": ("", None),
               "tree": (True, False)}  # fmt: skip
    few = rng.sample(list(options), 2)
    fields |= {name: rng.choice(options[name]) for name in few}
    for _ in range(rng.randint(0, 2)):
        name = rng.choice(("rows", "text", "texts", "limit", "threshold", "language", "tree", "x",
                           "documents", "project", strange(rng)))  # fmt: skip
        fields[name] = rng.choice((
            VALUES["JSON"](rng), -1, 0, 1, 10**9, 1e308, 0.5, "10", [], {}, None, True, [None],
            [[]],
            strange(rng), [strange(rng)] * 3, [{}], [dict(GOOD, more=1)], [{"title": "a"}],
            [dict(GOOD)] * 1001, ["a"] * 5,
            [{"text": strange(rng)}] * rng.choice((1, 40)),
        ))  # fmt: skip
    if rng.random() < 0.1:
        return Sent([_post(_path(rng), _dumped(VALUES["JSON"](rng), rng))])
    return Sent([_post(_path(rng), _dumped(fields, rng))])


def broken_json(rng: Random) -> Sent:
    """Bodies that are nearly JSON, or deep, or have huge numbers."""
    whole = _dumped({"rows": [_row(rng)]}, rng)
    place = rng.randrange(len(whole))
    odd = bytes([rng.randrange(256)]) * rng.choice((1, 1, 50))
    body = rng.choice((
        whole[:place], whole[:place] + odd + whole[place:],
        whole[:place] + odd + whole[place + 1 :],
        whole * 2, b"\xef\xbb\xbf" + whole, whole.decode(errors="replace").encode("utf-16"), b"",
        b"[" * 10**5, b'{"rows":' * 10**4, b'{"a":' + b"[" * 500 + b"]" * 500 + b"}", b"null", b"0",
        b"[]", b'"a"', b"NaN", b'{"rows":[{"price":1e999}]}', b'{"limit":' + b"9" * 5000 + b"}",
        b'{"text":"\\ud800"}', b'{"text":"\\u0000"}', b'{"rows":[{"price":9e7872688807}]}',
        b'{"rows":' + b"[{}," * 10**4, b'{"a":1,"a":2}', b"\0" * 100, b"9" * 4299, b"-" * 10**5,
        b'{"rows":[' + b",".join([b'{"title":"a"}'] * 2000) + b"]}", b'{"' + b"a" * 10**5 + b'":1}',
    ))  # fmt: skip
    return Sent([_post(_path(rng), body)])


def large(rng: Random) -> Sent:
    """Bodies as large as allowed, and larger ones."""
    size = rng.choice((MAX_BODY // 3, MAX_BODY - 200, MAX_BODY + 1, 3 * MAX_BODY))
    cell = rng.choice(
        ("9", "a", "a b ", "1,", "1e1", "[", "\u0663", "é ", "2024-01-01 ", "<", "\0")
    )
    text = (cell * size)[: size // len(cell.encode())]
    name = rng.choice(_COLUMNS)
    body = json.dumps({"rows": [{**GOOD, name: text}]}, ensure_ascii=False).encode()
    # the server may refuse it before its end, and what it says is lost with the rest
    return Sent([_post(b"/predict", body)], 1 if len(body) <= MAX_BODY else None)


def many_rows(rng: Random) -> Sent:
    """Many rows with distinct cells, at times as many as allowed."""
    n_rows = rng.choice((100, 100, 100, 1000))
    rows = [{**GOOD, rng.choice(_COLUMNS): THEMES["numbers"](rng)[:50]} for _ in range(n_rows)]
    return Sent([_post(b"/predict", _dumped({"rows": rows}, rng))])


def forms(rng: Random) -> Sent:
    """Fields of forms, whole and broken."""
    fields = {"limit": rng.choice(("1", "7", "-1", "1e9", "٣", "nan", "9" * 5000)),
              "threshold": rng.choice(("0", ".5", "nan", "inf", "1e999", "0x1", "")),
              "language": rng.choice(("", "", "en", "x" * 50, "\ud800")),
              strange(rng): "1"}  # fmt: skip
    few = {name: fields[name] for name in rng.sample(list(fields), rng.randint(0, 2))}
    few |= {"text": strange(rng)} if rng.random() < 0.9 else {}
    body = urlencode(few, errors="surrogatepass").encode()
    body = rng.choice(
        (body, body, body.replace(b"%", b"%%"), b"&" * 1000, b"a=1&" * 200, b"=" * 99)
    )
    return Sent([_post(rng.choice((b"/suggest", b"/v1/projects/goods/suggest")), body, _FORM)])


def content_types(rng: Random) -> Sent:
    """Media types, charsets and encodings, odd ones, and compressed bodies."""
    body = _dumped({"rows": [GOOD]}, rng)
    media = rng.choice((b"", b"text/plain", b"application/JSON", b"application/json;charset=utf-16",
                        b"application/json; charset=\xff", b"multipart/form-data; boundary=x", b";",
                        b"application/json; charset=" + b"a" * 5000, b"*/*", b"image/png\t",
                        _JSON))  # fmt: skip
    encoding = rng.choice((b"gzip", b"deflate", b"br", b"identity", b"x" * 100))
    if encoding == b"gzip":
        body = gzip.compress(rng.choice((body, b" " * 10**6)), mtime=0)
    return Sent([_post(_path(rng), body, media, (b"Content-Encoding", encoding))])


_TARGETS = (b"/", b"//", b"/%00", b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"/%",
            b"/%zz",
            b"/predict/", b"/PREDICT", b"/card", b"/metrics", b"/openapi.json", b"/health", b"*",
            b"",
            b"/v1/projects/%2e%2e", b"/v1/projects/" + b"a" * 5000, b"http://evil.invalid/health",
            b"/?" + b"a=b&" * 5000, b"/health?\xff", b"/%ff%fe", b"/v1/projects/%ED%A0%80",
            b"/health#a", b"/\\x", b"/" + b"a/" * 10_000, b"?", b"evil.invalid:443", b"/;a=b",
            b"/v1/projects/goods/suggest-batch?limit=nan&threshold=" + b"9" * 500)  # fmt: skip


def paths(rng: Random) -> Sent:
    """Paths, queries and methods that there are, and that there are not."""
    method = rng.choice((b"GET", b"GET", b"POST", b"HEAD", b"OPTIONS", b"PUT", b"DELETE", b"TRACE",
                         b"CONNECT", b"PATCH", b"BREW", b"get", b"A" * 500))  # fmt: skip
    target = rng.choice(_TARGETS)
    if rng.random() < 0.3:
        target = b"/" + quote(strange(rng)[:500], errors="replace").encode()
    headers = [(b"Host", b"x"), (b"Connection", b"close"), (b"Content-Length", b"0")]
    return Sent([_head(method, target, headers)])


_HOSTS = (b"", b"[", b"[::1", b"a b", b"evil.invalid:99999999", b"x" * 5000, b"\xff\xfe",
          b"a:b:c", b"@",
          b"/", b"%00", b"http://x", b"[v1.a]:80", b"\xc2\xa0", b"user:pw@x", b"x\\y")  # fmt: skip


def headers(rng: Random) -> Sent:
    """Headers that are odd, doubled, missing, many or long."""
    body = _dumped({"rows": [GOOD]}, rng)
    size = (b"Content-Length", str(len(body)).encode())
    more: list[tuple[bytes, bytes]] = rng.choice((
        [size, (b"Content-Length", b"5")], [(b"Content-Length", b"-1")], [size, size],
        [(b"Content-Length", b"9" * 30)], [(b"Content-Length", b"0x10")], [(b"Content-Length",
        b"+5")],
        [size, (b"Transfer-Encoding", b"chunked")], [(b"Transfer-Encoding", b"gzip, chunked")],
        [(b"X-%d" % i, b"a") for i in range(1000)], [(b"X", b"a" * 10**5)], [(b"X y", b"a")],
        [(b"X", b"a\0b")], [(b"X", b"a\r\n b")], [(b"", b"a")], [(b"Expect", b"100-continue")],
        [(b"Upgrade", b"websocket"), (b"Sec-WebSocket-Version", b"13"), (b"Sec-WebSocket-Key",
        b"a")],
        [(b"Upgrade", b"h2c"), (b"HTTP2-Settings", b"AAMAAABkAAQAAP__")], [(b"Range",
        b"bytes=0-1")],
        [(b"If-None-Match", b"*")], [(b"Cookie", b"a=" + b"b" * 9000)], [(b"X-Forwarded-For",
        b"\xff")],
        [(b"X-Forwarded-Proto", b"gopher")], [(b"Accept", b"\xc3\xa9/*;q=nan")], [(b"X",
        b"\x7f\x80")],
        [(b"Accept-Encoding", b"gzip;q=" + b"9" * 400)], [(b"Origin", b"null")],
    ))  # fmt: skip
    if rng.random() < 0.3:
        lines = [(b"Host", rng.choice(_HOSTS)), (b"Connection", b"close")]
        return Sent([_head(b"GET", rng.choice((b"/health", b"/none", b"/")), lines)])
    if rng.random() < 0.1:
        return Sent([_head(b"GET", b"/health", [(b"Connection", b"close")], b"1.0")])
    # of two sizes it may be that the rest of the body is waited for
    return Sent([_post(b"/predict", body, _JSON, *more)], None, end=rng.choice(("", "half")))


def chunks(rng: Random) -> Sent:
    """Bodies in chunks, whole and broken."""
    body = _dumped({"rows": [_row(rng)]}, rng)
    parts = [body[k : k + 50] for k in range(0, len(body), 50)]
    whole = [b"%x%b\r\n%b\r\n" % (len(p), rng.choice((b"", b";a=b", b";" * 50)), p) for p in parts]
    last = rng.choice((b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0" * 10 + b"\r\n\r\n"))
    head = _post(b"/suggest", b"", _JSON, (b"Transfer-Encoding", b"chunked"))
    if rng.random() < 0.5:
        return Sent([head, *whole, last])
    bad = rng.choice((b"zz\r\n", b"-1\r\n", b"f" * 40 + b"\r\n", b"5\r\na", b"\r\n", b"1\r\nab\r\n",
                      b"ffffffff\r\n" + b"a" * 1000, b"0\r\n" + b"X: y\r\n" * 20_000,
                      b"0\n\n"))  # fmt: skip
    return Sent([head, *whole[: rng.randint(0, 2)], bad], None, end=rng.choice(("", "half")))


def pipelined(rng: Random) -> Sent:
    """Several requests at once on one connection, of which the last one closes it."""
    count = rng.randint(2, 12)
    made = []
    for i in range(count):
        close = i == count - 1
        body = _dumped({"rows": [_row(rng)]}, rng)
        if rng.random() < 0.5:
            lines = [(b"Host", b"x"), (b"Connection", b"close" if close else b"keep-alive")]
            made.append(_head(b"GET", rng.choice((b"/health", b"/none", b"/card")), lines))
        else:
            made.append(_post(b"/predict", body, close=close))
    pieces = [b"".join(made)] if rng.random() < 0.7 else made
    return Sent(pieces, count)


def slow(rng: Random) -> Sent:
    """Requests of which the pieces come one by one, or the end never."""
    whole = _post(b"/predict", _dumped({"rows": [_row(rng)]}, rng))
    ends = sorted(rng.randrange(1, len(whole)) for _ in range(4))
    pieces = [whole[a:b] for a, b in zip([0, *ends], [*ends, len(whole)], strict=True)]
    is_whole = rng.random() < 0.5
    return Sent(pieces if is_whole else pieces[:-1], None, pause=rng.choice((0.05, 0.4)))


def half_closed(rng: Random) -> Sent:
    """Clients that send no more after a request, or within it, or are gone."""
    whole = _post(b"/predict", _dumped({"rows": [_row(rng)]}, rng), close=rng.random() < 0.5)
    place = rng.choice((len(whole), len(whole), rng.randrange(1, len(whole))))
    return Sent([whole[:place]], None, end=rng.choice(("half", "reset")))


def noise(rng: Random) -> Sent:
    """Bytes that are no HTTP, and requests with changed bytes."""
    whole = bytearray(_post(b"/predict", _dumped({"rows": [_row(rng)]}, rng)))
    for _ in range(rng.randint(1, 5)):
        whole[rng.randrange(min(len(whole), 150))] = rng.randrange(256)
    sent = rng.choice((
        bytes(whole), bytes(whole), rng.randbytes(200), b"\r\n" * 1000, b"\0" * 1000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
        b"GET /health\r\n\r\n", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", b"GET" * 50_000, b"\n\n",
        b"SSH-2.0-x\r\n",
        b"GET / HTTP/1.1\nHost: x\nConnection: close\n\n", b"GET  /health  HTTP/1.1\r\n\r\n",
    ))  # fmt: skip
    return Sent([sent], None, end=rng.choice(("", "half")))


REQUESTS: dict[str, Callable[[Random], Sent]] = {
    make.__name__.replace("_", " "): make
    for make in (cells, questions, broken_json, large, many_rows, forms, content_types, paths,
                 headers, chunks, pipelined, slow, half_closed, noise)
}  # fmt: skip
