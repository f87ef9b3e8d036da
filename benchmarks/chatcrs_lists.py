"""ChatCRS's lists: `python -m benchmarks.chatcrs_lists --data DIR [--limit N]`.

For each corpus of the CoRE paper and each embedder that runs on this machine: the share of test
histories of which the list has a target among its first ten, with its 95 % interval.
"""

import argparse
import asyncio
from pathlib import Path

from recjury.agents import SystemContext
from recjury.agents.chat_system import SpokenAnswer
from recjury.agents.chatcrs import ChatCRS
from recjury.corpora import open_corpus
from recjury.llm import EndpointSpec, Gateway, NullRecorder
from recjury.records import Conversation, ConversationLog, Ending, Speaker, Turn
from recjury.stats.resampling import interval_of_mean


class _ListsAlone(ChatCRS):
    """ChatCRS whose model says nothing: the list is made before the text."""

    async def _ask(self, conversation: Conversation, *instructions: str) -> SpokenAnswer:  # noqa: ARG002
        return SpokenAnswer("-", ())


def main() -> None:
    """Print a row for each corpus and embedder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="draw so many histories")
    options = parser.parse_args()
    print("| corpus | embedder | target in the first ten | histories |\n|---|---|---|---|")
    for corpus in ("redial", "opendialkg"):
        for embedder in ("tfidf", "minilm"):
            hits = asyncio.run(_hits(corpus, embedder, options.data, options.limit))
            low, high = interval_of_mean(hits) or (0.0, 0.0)
            share = sum(hits) / len(hits)
            print(f"| {corpus} | {embedder} | {share:.1%} ({low:.1%}, {high:.1%}) | {len(hits)} |")


async def _hits(name: str, embedder: str, data: Path, limit: int | None) -> list[float]:
    corpus = open_corpus(name, data)
    models = {"main": EndpointSpec(base_url="http://127.0.0.1:9/v1", name="none")}
    async with Gateway(models, NullRecorder()) as gateway:
        context = SystemContext(corpus, gateway, list_length=10)
        system = _ListsAlone(embeddings=embedder).prepared(context)
        found: list[float] = []
        for scenario in corpus.scenarios(limit=limit).scenarios:
            domain = corpus.catalogue.wanted_domain(scenario).name
            reply = await system.respond(Conversation(turns=scenario.history, domain=domain))
            turn = Turn(speaker=Speaker.SYSTEM, text="-", items=tuple(reply.items))
            log = ConversationLog(
                system=system.name, scenario=scenario, interaction=(turn,), ending=Ending.RECORDED
            )
            found.append(log.recall_at(10) or 0.0)
        await system.aclose()
    return found


if __name__ == "__main__":
    main()
