"""Train a LoRA adapter of a local model, from examples to a folder."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from recjury.corpora.writing import check_writable, folder_lock
from recjury.errors import ConfigError, DataError
from recjury.fine_tuning.plan import LoraPlan, TuningExample, TuningReport, TuningStep
from recjury.input_files import read_record
from recjury.plugins.extras import require_fine_tuning
from recjury.records import JSON

REPORT = Path("recjury") / "tuning.json"
"""The file with the report: in a subfolder, because a digest of weights has no subfolders."""

_ADAPTER = "adapter_config.json"
_PARTS = frozenset(
    (_ADAPTER, "adapter_model.safetensors", "adapter_model.bin", "README.md", REPORT.parts[0])
)
"""What a folder of an adapter may hold to be replaced."""


def fine_tune(
    model: Path | str,
    examples: Iterable[TuningExample],
    out: Path,
    plan: LoraPlan | None = None,
    *,
    notes: Mapping[str, JSON] | None = None,
    progress: Callable[[TuningStep], None] | None = None,
) -> TuningReport:
    """Train a LoRA adapter of the model in the folder `model`, and write it into the folder `out`.

    The loss is that of the labels alone, not of the prompts. The same examples, plan, machine and
    number of threads give the same adapter. `notes` are kept in its report. An adapter in `out` is
    replaced when the new one is complete. To use it, name it in a campaign file:
    `{provider: transformers, model: MODEL, adapter: OUT}`.

    Raises ConfigError if a package is missing, if there is no model, or if `out` has other contents
    than an adapter; DataError without an example that the model can read, or if `out` cannot be
    written to; and ProviderError for a model that cannot be loaded.
    """
    require_fine_tuning("fine-tuning")
    check_out(out)
    from recjury.fine_tuning.lora import train

    place = out.resolve()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=out) from None
    try:
        report = train(Path(model), examples, partial, plan or LoraPlan(), progress)
        report = report.model_copy(update={"folder": str(out), "notes": dict(notes or {})})
        (partial / REPORT).parent.mkdir()
        (partial / REPORT).write_text(report.model_dump_json(indent=1) + "\n", "utf-8")
        partial.chmod(0o755)
        _exchange(partial, place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return report


def read_report(folder: Path) -> TuningReport:
    """The report beside an adapter. Raises DataError if there is none that can be read."""
    return read_record(folder / REPORT, TuningReport, "a report of a fine-tuning")


def check_out(out: Path) -> None:
    """Raise ConfigError if `out` is a file, or a folder with other contents than an adapter, and
    DataError if it clearly cannot be written to. Nothing is created."""
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file: name a folder to write the adapter to")
    held = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if held and _ADAPTER not in held:
        raise ConfigError(f"{out} is not empty and is not an adapter: name another folder")
    if held - _PARTS:
        raise ConfigError(
            f"{out} holds {min(held - _PARTS)!r} besides an adapter: name another folder"
        )
    check_writable(out / _ADAPTER)


def _exchange(partial: Path, place: Path) -> None:
    """Put the folder `partial` in `place`, and delete the adapter that was there.

    The old adapter is moved aside first, so that one of the two is complete in its place nearly
    always, and is never half deleted there.
    """
    with folder_lock(place.parent):
        check_out(place)
        with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as aside:
            if place.is_dir():
                os.replace(place, Path(aside) / "replaced")
            os.replace(partial, place)
