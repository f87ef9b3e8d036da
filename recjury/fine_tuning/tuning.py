"""Train a LoRA adapter of a local model, from examples to a folder."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from recjury.errors import ConfigError, DataError
from recjury.fine_tuning.plan import LoraPlan, TuningExample, TuningReport, TuningStep
from recjury.plugins.extras import require_fine_tuning
from recjury.records import JSON

REPORT = Path("recjury") / "tuning.json"
"""The file with the report: in a subfolder, because a digest of weights has no subfolders."""

_ADAPTER = "adapter_config.json"


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
    than an adapter; DataError without an example that the model can read; and ProviderError for a
    model that cannot be loaded.
    """
    require_fine_tuning("fine-tuning")
    check_out(out)
    from recjury.fine_tuning.lora import train

    place = out.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        report = train(Path(model), examples, partial, plan or LoraPlan(), progress)
        report = report.model_copy(update={"folder": str(out), "notes": dict(notes or {})})
        (partial / REPORT).parent.mkdir()
        (partial / REPORT).write_text(report.model_dump_json(indent=1) + "\n", "utf-8")
        partial.chmod(0o755)
        shutil.rmtree(place, ignore_errors=True)
        os.replace(partial, place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return report


def read_report(folder: Path) -> TuningReport:
    """The report beside an adapter. Raises DataError if there is none that can be read."""
    try:
        return TuningReport.model_validate_json((folder / REPORT).read_bytes())
    except (OSError, ValueError) as error:
        raise DataError("there is no report of a fine-tuning", path=folder / REPORT) from error


def check_out(out: Path) -> None:
    """Raise ConfigError if `out` is a file, or a folder with other contents than an adapter."""
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file: name a folder to write the adapter to")
    if out.is_dir() and any(out.iterdir()) and not (out / _ADAPTER).is_file():
        raise ConfigError(f"{out} is not empty and is not an adapter: name another folder")
