"""Published models that checkpoints build on: in the checkpoint, in a local folder, or from the
hub.

A backbone is a folder with the published files. A name that is not a folder is looked up in the
hub's cache; if it is not there, it is fetched over the network.
"""

from pathlib import Path
from typing import NamedTuple

from recjury.errors import ConfigError

BART, GPT2, ROBERTA = "facebook/bart-base", "microsoft/DialoGPT-small", "roberta-base"
PUBLISHED = {"bart": BART, "gpt2": GPT2, "roberta": ROBERTA}
# The kinds of backbones that each system builds on.
TAKES: dict[str, tuple[str, ...]] = {
    "barcor": ("bart",),
    "kbrd": ("bart",),
    "unicrs": ("gpt2", "roberta"),
}
INSIDE = "backbones"
_TOKENIZER = ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer_config.json")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class Origin(NamedTuple):
    """A backbone to train from: its kind (`bart`, `gpt2` or `roberta`), and its folder.

    `name` finds it again: its hub name, or the absolute path of its folder.
    """

    kind: str
    name: str
    folder: Path


def backbone_folder(
    name: str | None,
    published: str,
    *,
    checkpoint: Path,
    kind: str,
    weights: bool,
    recorded: str | None = None,
) -> Path:
    """The folder of a checkpoint's backbone.

    If `name` is None, it is the backbone that the checkpoint was trained with, as `recorded`; if
    none was recorded, the one in the checkpoint's `backbones/<kind>`; if there is none, the
    `published` one. `weights` says whether more than the tokenizer is needed. Raises ConfigError,
    which says what to fetch, if the backbone is not found and cannot be fetched.
    """
    inside, advice = checkpoint / INSIDE / kind, f"in the system's `backbones: {{{kind}: FOLDER}}`"
    if name is None and recorded is not None:
        if Path(recorded).is_absolute() and not Path(recorded).is_dir():
            raise ConfigError(
                f"backbone {kind}: there is no folder {recorded}, where it was when the checkpoint "
                f"was trained: name the folder that has it now {advice}"
            )
        name = recorded
    if name is None and inside.is_dir():
        return inside
    return _folder(name or published, kind, weights=weights, advice=advice)


def find_origin(name: str, kind: str) -> Origin:
    """A backbone to train from, by its folder or hub name.

    Raises ConfigError as `backbone_folder`.
    """
    advice = f"with `--set backbones={kind}=FOLDER`"
    folder = _folder(name, kind, weights=True, advice=advice)
    by_path = Path(name).expanduser().is_dir()
    return Origin(kind, str(folder.resolve()) if by_path else name, folder)


def _folder(name: str, kind: str, *, weights: bool, advice: str) -> Path:
    """The local folder with that name, or the hub's; `advice` says where another one can be
    named."""
    local = Path(name).expanduser()
    if local.is_dir():
        return local
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ConfigError(f"backbone {kind}: there is no folder {local}")
    offline = not _reachable(name)
    tokenizer = _any_of(name, _TOKENIZER, offline=offline)
    needed = [tokenizer is not None]
    if weights:
        # One of the two weight files is enough: the first that exists.
        needed.append(_any_of(name, ("config.json",), offline=offline) is not None)
        needed.append(any(_any_of(name, (file,), offline=offline) is not None for file in _WEIGHTS))
    if tokenizer is None or not all(needed):
        raise ConfigError(_what_to_fetch(name, kind, weights=weights, advice=advice))
    return tokenizer.parent


def _reachable(name: str) -> bool:
    """Whether the hub answers, even with an error status. The hub is asked once per process.

    Without this check, `hf_hub_download` would retry for half a minute for each file.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError

    try:
        get_hf_file_metadata(hf_hub_url(name, "config.json"))
    except HfHubHTTPError:
        return True
    except Exception:  # each version of the library raises another exception without a network
        return False
    return True


def _any_of(name: str, files: tuple[str, ...], *, offline: bool) -> Path | None:
    """Fetch each of the files that the hub has; return the path of the last one, or None.

    `offline` uses the hub's cache only.
    """
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError

    found: Path | None = None
    for file in files:
        try:
            found = Path(hf_hub_download(name, file, local_files_only=offline))
        except EntryNotFoundError:
            continue  # not cached, or not published: another file may be enough
        except (HfHubHTTPError, HFValidationError, OSError):
            return found
    return found


def _what_to_fetch(name: str, kind: str, *, weights: bool, advice: str) -> str:
    files = "vocab.json and merges.txt (or tokenizer.json)"
    if weights:
        files += ", config.json, and model.safetensors (or pytorch_model.bin)"
    return (
        f"backbone {kind}: {name} is no folder here nor in the hub's cache, and cannot be fetched: "
        f"on a machine with a network run `hf download {name} --local-dir FOLDER`, bring {files} "
        f"here, and name that folder {advice}"
    )
