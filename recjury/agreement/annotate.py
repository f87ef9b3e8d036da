"""`annotate export`: conversations of a campaign as pages on which people rate them."""

import base64
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jinja2
import pandas as pd

from recjury.errors import UserError
from recjury.judges import Core, Criterion
from recjury.llm.prompts import numbers_of
from recjury.mistakes import made
from recjury.records import ConversationLog, Record, Turn, digest
from recjury.results import Findings, Selection, StoredCampaign
from recjury.results.selection import ALL
from recjury.store import Store

KEY = "key.json"
OVERALL = Criterion(
    name="Overall",
    definition="",
    anchors={0: "You would never use this system.", 100: "You would always use this system."},
    scale=(0, 100),
    between=True,
)
"""The last field of every conversation; it has no guideline (CoRE, 6.6)."""

_PAGE = Path(__file__).parent / "page"
_RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,30}")

Design = Literal["core", "random"]


class Dialogue(Record):
    """A conversation to rate, and the ids of its fields; raters see neither id nor system."""

    conversation: str
    system: str
    log: ConversationLog
    fields: tuple[str, ...]


class Key(Record):
    """All of an export. Raters get their pages only, since a key names the systems."""

    form: Literal["recjury annotation 1"] = "recjury annotation 1"
    campaign: str
    criteria: tuple[Criterion, ...]
    conversations: dict[str, Dialogue]
    raters: dict[str, tuple[str, ...]]

    @property
    def id(self) -> str:
        """The identity of its content, which every answer file names."""
        return digest(self)


class Drawing(NamedTuple):
    """Which conversations are drawn, and for whom.

    `core` takes `number` records of each corpus with the conversations of all systems (CoRE, 6.6:
    ten); `random` takes `number` conversations. `each` raters get a conversation; those of one
    record go to the same raters.
    """

    raters: tuple[str, ...]
    design: Design = "core"
    number: int = 10
    each: int = 2
    seed: int = 0


def export_pages(
    store: Store,
    folder: Path,
    drawing: Drawing,
    *,
    prompts: str = "core",
    campaign: str = "",
    selection: Selection = ALL,
) -> Findings:
    """Write a page for each rater, `RATER.html`, and the key to all of them.

    The guidelines are those of the pack `prompts`, as the judges of `core` get them. Raises
    UserError if there is too little to draw from, and if `folder` has a key already.
    """
    if (folder / KEY).exists():
        raise UserError(f"{folder} has an export already: name another folder")
    name = store.campaign(campaign)
    key = _key(store, name, drawing, made(Core, {"prompts": prompts}).criteria, selection)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for rater in key.raters:
            (folder / f"{rater}.html").write_text(_page(key, rater), "utf-8", "replace")
        (folder / KEY).write_text(json.dumps(key.model_dump(mode="json")), "utf-8")
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
    rows = [(f"{rater}.html", len(names)) for rater, names in key.raters.items()]
    return Findings(
        title=name,
        answer=f"{len(key.conversations)} conversations of {name} for {len(rows)} raters are in "
        f"{folder}. Send each rater the own page, and keep {KEY}, which names the systems. Then: "
        f"recjury annotate import {folder} FILES",
        tables={"Pages": pd.DataFrame(rows, columns=["page", "conversations"])},
        data={"campaign": name, "export": key.id, "raters": key.raters},
    )


def _key(
    store: Store,
    campaign: str,
    drawing: Drawing,
    criteria: Sequence[Criterion],
    selection: Selection,
) -> Key:
    rng = random.Random(f"annotate {drawing.seed}")
    trials = StoredCampaign(store, campaign).of(selection).trials
    trials = trials[trials["state"] == "done"].astype({"system": str, "corpus": str})
    if not len(trials):
        raise UserError(f"{campaign} has no finished conversation to rate: `recjury run` plays it")
    groups = (_records if drawing.design == "core" else _conversations)(trials, drawing, rng)
    ids = [id_ for group in groups for id_ in group]
    names = {id_: f"c{number:03}" for number, id_ in enumerate(rng.sample(ids, len(ids)), 1)}
    systems = dict(zip(trials["id"], trials["system"], strict=True))
    return Key(
        campaign=campaign,
        criteria=(*criteria, OVERALL),
        conversations={
            names[id_]: Dialogue(
                conversation=id_,
                system=systems[id_],
                log=log,
                fields=tuple(c.metric.name for c in (*criteria, OVERALL) if not c.lacks(log)),
            )
            for id_, log in store.logs(sorted(ids, key=names.__getitem__))
        },
        raters={
            rater: tuple(names[id_] for id_ in rng.sample(own, len(own)))
            for rater, own in _by_rater(groups, drawing, rng).items()
        },
    )


def _records(trials: pd.DataFrame, drawing: Drawing, rng: random.Random) -> list[list[str]]:
    """The conversations of all systems for some records of each corpus."""
    systems = trials["system"].nunique()
    complete: dict[str, list[list[str]]] = defaultdict(list)
    for (corpus, _, _), rows in trials.groupby(["corpus", "scenario", "user"], observed=True):
        first = rows.sort_values("repeat").drop_duplicates("system")
        complete[str(corpus)] += [list(first["id"])] if len(first) == systems else []
    for corpus, records in complete.items():
        if not records:
            raise UserError(
                f"{corpus}: no record was played with all {systems} systems (recordings never "
                "are): --design random draws conversations instead"
            )
        if len(records) < drawing.number:
            raise UserError(
                f"{corpus}: {len(records)} records were played with all {systems} systems, and "
                f"{drawing.number} are wanted: play more, take --number {len(records)}, or take "
                "--design random"
            )
    return [
        each for name in sorted(complete) for each in rng.sample(complete[name], drawing.number)
    ]


def _conversations(trials: pd.DataFrame, drawing: Drawing, rng: random.Random) -> list[list[str]]:
    ids = list(trials["id"])
    if len(ids) < drawing.number:
        raise UserError(f"--number {drawing.number}: there are {len(ids)} finished conversations")
    return [[id_] for id_ in rng.sample(ids, drawing.number)]


def _by_rater(
    groups: Sequence[Sequence[str]], drawing: Drawing, rng: random.Random
) -> Mapping[str, list[str]]:
    """The conversations of each rater. A record goes to those who have the fewest."""
    _check_raters(drawing)
    given: dict[str, list[str]] = {rater: [] for rater in drawing.raters}
    for group in groups:
        order = sorted(given, key=lambda rater: (len(given[rater]), rng.random()))
        for rater in order[: drawing.each]:
            given[rater] += group
    if idle := [rater for rater, own in given.items() if not own]:
        raise UserError(f"{', '.join(idle)}: nothing is left to rate: name fewer raters")
    return given


def _check_raters(drawing: Drawing) -> None:
    raters, each = drawing.raters, drawing.each
    for rater in raters:
        if not _RATER.fullmatch(rater):
            raise UserError(f"--raters: a name has letters, digits, - and _, got {rater!r}")
    if len({rater.casefold() for rater in raters}) < len(raters):
        raise UserError(f"--raters: each is named once, got {', '.join(raters)}")
    if len(raters) < each:
        raise UserError(
            f"each conversation goes to {each} raters, and there are {len(raters)} "
            f"({', '.join(raters)}): take --each {len(raters)}, or name more"
        )


def _page(key: Key, rater: str) -> str:
    """The page of a rater: all that it needs is in it."""
    told = {
        "export": key.id,
        "rater": rater,
        "fields": [
            {"id": each.metric.name, **each.model_dump(mode="json")} for each in key.criteria
        ],
        "conversations": [_shown(name, key.conversations[name]) for name in key.raters[rater]],
    }
    page, style, script = (
        (_PAGE / f"page.{end}").read_text("utf-8") for end in ("j2", "css", "js")
    )
    html: str = jinja2.Template(page).render(
        rater=rater,
        style=style,
        script=script,
        allowed=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        task=json.dumps(told, ensure_ascii=False).replace("<", "\\u003c"),  # closes no script
    )
    return html


def _shown(name: str, drawn: Dialogue) -> dict[str, Any]:
    """A conversation as a rater sees it."""
    log = drawn.log
    return {
        "name": name,
        "fields": drawn.fields,
        "history": [*map(_turn, log.scenario.history)],
        "interaction": [*map(_turn, log.interaction)],
        "list": [item.name for item in log.session_list],
        "target": [item.name for item in log.scenario.targets],
        "places": numbers_of(log.scenario.targets, log.session_list),
        "wishes": log.scenario.wishes,
    }


def _turn(turn: Turn) -> dict[str, Any]:
    """A turn with what the system showed beside its text; how it called tools is not for users."""
    shown: Iterable[Any] = turn.events if turn.speaker == "system" else ()
    texts = [
        each.value if isinstance(each.value, str) else json.dumps(each.value, ensure_ascii=False)
        for each in shown
        if not each.kind.startswith("tool")
    ]
    return {"speaker": turn.speaker, "text": turn.text, "shown": texts}
