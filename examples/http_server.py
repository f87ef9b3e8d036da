"""An own system behind HTTP, in any language's standard library: here Python's.

    python examples/http_server.py 8080

Named in a campaign file as `{kind: http, name: mine, url: "http://127.0.0.1:8080/respond"}`.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILMS = ["Ran (1985)", "Heat (1995)", "Spirited Away (2001)", "Fargo (1996)", "Coco (2017)"]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = " ".join(turn["text"] for turn in asked["conversation"])
        unseen = [film for film in FILMS if film not in said] or FILMS
        answer = {
            "text": f"Have you seen {unseen[0]}? Many people love it.",
            "items": unseen[: asked["list_length"]],  # names; ids as {"id": "25"}
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
