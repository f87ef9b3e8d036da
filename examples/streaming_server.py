"""A system as shops have it: sessions on the server, answers as a stream, cards, tool calls.

Run `python examples/streaming_server.py 8080`; streaming_server.yaml connects it to recjury.
"""

import json
import sys
from uuid import uuid4

from aiohttp import web

FILMS = {
    "crime": ["Heat (1995)", "Fargo (1996)", "Thief (1981)"],
    "family": ["Spirited Away (2001)", "Toy Story (1995)", "Coco (2017)"],
    "horror": ["The Thing (1982)", "Alien (1979)", "The Innocents (1961)"],
}
WORDS = {"kids": "family", "family": "family", "scary": "horror", "horror": "horror"}

shown_by_session: dict[str, list[str]] = {}


async def health(request: web.Request) -> web.Response:
    return web.json_response({"ready": True})


async def open_session(request: web.Request) -> web.Response:
    id_ = uuid4().hex
    shown_by_session[id_] = []
    return web.json_response({"id": id_})


async def close_session(request: web.Request) -> web.Response:
    shown_by_session.pop(request.match_info["id"], None)
    return web.Response(status=204)


async def answer(request: web.Request) -> web.StreamResponse:
    """Stream a tool call, the text word by word, and the cards."""
    shown = shown_by_session.get(request.match_info["id"])
    if shown is None:
        return web.json_response({"error": "there is no such session"}, status=404)
    genre = genre_of((await request.json())["message"])
    films = [film for film in FILMS[genre] if film not in shown][:2] or FILMS[genre][:2]
    shown += films
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await send(response, "tool", {"call": {"name": "search", "genre": genre, "found": films}})
    for word in f"You may like {' or '.join(films)}.".split():
        await send(response, "delta", {"delta": f"{word} "})
    await send(response, "cards", {"cards": [{"title": film} for film in films]})
    await response.write(b"data: [DONE]\n\n")
    return response


async def send(response: web.StreamResponse, event: str, data: object) -> None:
    await response.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())


def genre_of(message: str) -> str:
    words = (word.strip(".,!?") for word in message.lower().split())
    return next((WORDS[word] for word in words if word in WORDS), "crime")


def main() -> None:
    app = web.Application()
    app.add_routes(
        [
            web.get("/health", health),
            web.post("/sessions", open_session),
            web.post("/sessions/{id}/messages", answer),
            web.delete("/sessions/{id}", close_session),
        ]
    )
    port, *host = sys.argv[1:]
    web.run_app(app, host=host[0] if host else "127.0.0.1", port=int(port))


if __name__ == "__main__":
    main()
