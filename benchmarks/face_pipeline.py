"""All of FACE over HTTP: 467 dialogues decomposed, scored, pooled, stored, and held against people.

A server answers with the released particles and scores; what must come out are the published
correlations. Reported are duration, CPU per request (this process, and the server) and the size
of the store. Run: `python -m benchmarks.face_pipeline [--aspects all | NAME...] [--limit N]`.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.face_coverage import coverage_of
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.judge_existing import judge_logs
from recjury.corpora.crsarena import CrsArena, read_crsarena
from recjury.judges.face.evaluator import FaceEvaluator
from recjury.llm import EndpointSpec, event_loop
from recjury.papers.face.face_scores import FaceScores
from recjury.papers.face.stored_scores import pooled_scores, read_scored
from recjury.papers.face.table1 import FaceRow, face_rows
from recjury.records import Aspect
from recjury.store import Store

_PUBLISHED = {"redial": "CRSArena-Eval_RD", "opendialkg": "CRSArena-Eval_KG"}


def measure(
    folder: Path, aspects: tuple[Aspect, ...], *, limit: int | None, concurrency: int, store: Path
) -> dict[str, Any]:
    """One run into the new store at `store`; what it took, and what came out."""
    command = [sys.executable, "-m", "benchmarks.face_server", str(folder), *aspects]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        port = int(server.stdout.readline())
        people = read_crsarena(folder / "crs_arena_eval.json")
        return _measured(folder, people, aspects, limit, concurrency, port, store)
    finally:
        server.stdin.close()
        server.stdout.close()
        server.wait(30)


def _measured(
    folder: Path,
    people: CrsArena,
    aspects: tuple[Aspect, ...],
    limit: int | None,
    concurrency: int,
    port: int,
    path: Path,
) -> dict[str, Any]:
    logs = list(people.logs.values())[:limit]
    spec = EndpointSpec(base_url=f"http://127.0.0.1:{port}/v1", name="released")
    face = FaceEvaluator(aspects=aspects, instructions=str(folder / "face-instructions"))
    config = EvaluationConfig(model=spec, evaluators=(face,), concurrency=concurrency)
    with Store.open(str(path)) as kept:
        began, cpu = time.perf_counter(), time.process_time()
        with event_loop() as runner:
            result = runner.run(judge_logs(logs, config, kept))
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        scored = list(read_scored(kept))
    rows = face_rows(FaceScores(pooled_scores(scored), people, (), {}))
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=30) as answer:
        stats = json.load(answer)
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.is_file())
    return {
        "dialogues": result.done,
        "failed": result.failed,
        "aspects": list(map(str, aspects)),
        "requests": stats["calls"],
        "samples": sum(own.samples for own in coverage_of(scored).values()),
        "wall_s": round(wall, 1),
        "requests_per_s": round(stats["calls"] / wall),
        "cpu_ms_per_request": round(1000 * cpu / stats["calls"], 3),
        "server_cpu_ms_per_request": round(1000 * stats["cpu_s"] / stats["calls"], 3),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "store_mb": round(size / 1e6, 1),
        "store_bytes_per_request": round(size / stats["calls"]),
        "published": None if limit else as_published(rows, folder),
        "table": {f"{row.subset}, {row.aspect}": row.correlation._asdict() for row in rows},
    }


def as_published(rows: list[FaceRow], folder: Path) -> str:
    """How many of the correlations are the published ones, to three decimals."""
    published = json.loads((folder / "baselines.json").read_text("utf-8"))
    pairs = [
        (value, published[_PUBLISHED[row.subset]]["FACE"][name][key])
        for row in rows
        for name in (row.aspect.replace("dialogue_", "dialog_"),)
        for value, key in zip(row.correlation[:2], ("pearson_r", "spearman_rho"), strict=True)
    ]
    equal = sum(value is not None and round(value, 3) == said for value, said in pairs)
    return f"{equal} of {len(pairs)}"


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.face_pipeline")
    parser.add_argument("--data", type=Path, default=os.environ.get("RECJURY_DATA"))
    parser.add_argument("--aspects", nargs="+", default=["dialogue_overall"], metavar="NAME")
    parser.add_argument("--limit", type=int, help="only the first N dialogues")
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data, or RECJURY_DATA, must name the folder that holds crsarena-eval/")
    names = list(Aspect) if options.aspects == ["all"] else map(Aspect, options.aspects)
    with tempfile.TemporaryDirectory() as scratch:
        found = measure(
            Path(options.data) / "crsarena-eval",
            tuple(names),
            limit=options.limit,
            concurrency=options.concurrency,
            store=Path(scratch) / "face.db",
        )
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    _main()
