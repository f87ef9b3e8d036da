"""Run a campaign or rate recorded conversations from a script or a notebook."""

import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from recjury import campaign as campaigns
from recjury import plugins
from recjury.api.stored import DEFAULT_STORE, Run, waited_for
from recjury.campaign import Config, Progress, read_config
from recjury.corpora import Reading, Recording, read_recordings
from recjury.errors import UserError
from recjury.mistakes import first_mistake
from recjury.records import Record
from recjury.store import Store

_PARTS = ("systems", "users", "evaluators")


async def evaluate_async(
    config: str | Path | Mapping[str, Any] | Config | None = None,
    *,
    store: str | Path = DEFAULT_STORE,
    limit: int | None = None,
    retry: bool = True,
    fresh: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    **keys: Any,
) -> Run:
    """Play and rate all that is left of a campaign: a file, its keys, or a Config.

    `keys` are keys of a campaign file and stand in place of those of `config`. Systems, users and
    evaluators may also be functions, classes and objects: `evaluate(systems={"mine": recommend})`.
    `limit` takes the first scenarios of each corpus, and without `retry` what failed stays as it
    is. `fresh` names systems that changed where recjury cannot see it. `progress` is told after
    each conversation. Raises UserError before the run begins, and Stop if an endpoint or the budget
    ends it; the same call goes on. What waits for a batch is a warning.
    """
    campaign = _config(config, keys)
    with Store(store) as opened:
        tell = progress or _silent
        done = await campaigns.run(
            campaign, opened, limit=limit, retry=retry, fresh=fresh, progress=tell
        )
    _warn(done.waiting)
    return Run(store, campaign.name)


async def judge_async(
    conversations: str | Path | Sequence[Any] | None = None,
    *,
    campaign: str = "",
    config: str | Path | Mapping[str, Any] | None = None,
    form: str = "",
    catalogue: str = "",
    mapping: Mapping[str, str] | None = None,
    rows: Mapping[str, str] | None = None,
    sample: int | None = None,
    encoding: str = "utf-8",
    store: str | Path = DEFAULT_STORE,
    retry: bool = True,
    progress: Callable[[Progress], None] | None = None,
    **keys: Any,
) -> Run:
    """Rate recorded conversations, or those of an earlier `campaign` if there are none.

    `conversations` are files, or conversations: each a list of OpenAI's messages, or an object of
    the form `jsonl`, which may have `id`, `system` and `targets`. `catalogue` is a corpus that has
    their items; `mapping`, `rows`, `sample` and `encoding` are those of `Reading` in corpora.
    `config` is a file or a mapping with models and evaluators, `keys` are its keys. Raises
    UserError and Stop; a conversation that cannot be read is skipped with a warning.
    """
    if conversations is None and not campaign:
        raise UserError("expected conversations, or the `campaign` of earlier ones, got neither")

    def make(given: dict[str, Any]) -> Config:
        return _config(config, keys | given)

    with Store(store) as opened:
        if conversations is None:
            settings, recorded = campaigns.to_judge_again(opened, campaign, make)
        else:
            reading = Reading(form, catalogue, mapping or {}, rows or {}, sample, encoding)
            recordings = _recordings(conversations, reading)
            settings, recorded = campaigns.to_judge(campaign or "recorded", recordings, make)
        tell = progress or _silent
        done = await campaigns.judge(settings, recorded, opened, retry=retry, progress=tell)
    _warn(done.waiting)
    return Run(store, settings.name)


evaluate, judge = waited_for(evaluate_async), waited_for(judge_async)


def _warn(lines: Iterable[str]) -> None:
    for line in lines:
        warnings.warn(line, stacklevel=2)


def _silent(progress: Progress) -> None:
    """Nobody is told."""


def _config(
    given: str | Path | Mapping[str, Any] | Config | None, keys: Mapping[str, Any]
) -> Config:
    """The campaign with these keys. Raises UserError."""
    known = {key: _parts(value) if key in _PARTS else value for key, value in keys.items()}
    if isinstance(given, str | Path):
        return read_config(Path(given), known)
    if isinstance(given, Config):
        given = given.stored()
    values = {key: _parts(v) if key in _PARTS else v for key, v in (given or {}).items()}
    try:
        return Config.model_validate(values | known)
    except ValidationError as error:
        path, message = first_mistake(error, Config)
        raise UserError(f"{'.'.join(map(str, path))}: {message}") from None


def _parts(given: Any) -> list[Any]:
    """The parts as a campaign file has them."""
    if isinstance(given, Mapping) and "kind" not in given:
        return [_part(part, name) for name, part in given.items()]
    return [_part(part) for part in (given if isinstance(given, list | tuple) else [given])]


def _part(given: Any, name: str = "") -> dict[str, Any]:
    """The settings of one part. An object becomes its `kind`, and an evaluator its fields, too."""
    if isinstance(given, str):
        settings: dict[str, Any] = {"kind": given}
    elif isinstance(given, Mapping):
        settings = dict(given)
    elif isinstance(given, Record):
        settings = given.model_dump(mode="json", exclude_defaults=True)
        ships = type(given).__module__.startswith("recjury.")
        settings["kind"] = dict(given)["kind"] if ships else plugins.target_of(type(given))
    else:
        settings = {"kind": plugins.target_of(given), "name": _name_of(given)}
    return settings | ({"name": name} if name else {})


def _name_of(part: object) -> str:
    return str(getattr(part, "__name__", type(part).__name__)).strip("<>").lower()


def _recordings(given: Any, reading: Reading) -> Sequence[Recording]:
    """The conversations, read as files are."""
    if isinstance(given, str | Path):
        given = [given]
    if not given:
        raise UserError("there is no conversation to judge")
    if all(isinstance(each, str | Path) for each in given):
        return _read([Path(each) for each in given], reading)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "recorded.json"
        try:
            file.write_text(json.dumps(list(given)), "utf-8")
        except (TypeError, ValueError) as error:
            raise UserError(f"the conversations are no plain data: {error}") from None
        try:
            return _read([file], reading._replace(encoding="utf-8"))
        except UserError as error:
            raise UserError(str(error).replace(f"{file}: ", "")) from None


def _read(files: Sequence[Path], reading: Reading) -> Sequence[Recording]:
    read = read_recordings(files, reading)
    _warn(f"skipped {each.where}, system {each.system}: {each.reason}" for each in read.skipped)
    return read.recordings
