"""The old identities of trials and campaigns, and the identities of their parts now."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recjury.store.migrations.apart import metrics
from recjury.store.migrations.apart.rows import digest

Json = Mapping[str, Any]

_OF_NO_REPLY = {
    "wire",
    "key_env",
    "timeout",
    "retries",
    "patience",
    "concurrency",
    "requests_per_minute",
    "price_in",
    "price_out",
    "price_cached",
}
_OF_NO_CAMPAIGN = {
    "concurrency",
    "budget",
    "data",
    "judges",
    "debate",
    "evaluators",
    "model",
    "models",
    "systems",
}
_OF_NO_SYSTEM = {"timeout", "retries", "concurrency", "key_env", "max_bytes"}
_OF_A_CORPUS = {"catalogue", "graph"}


class Evaluator(NamedTuple):
    """A version of an evaluator, the part of the corpus that it used, and its declared metrics."""

    kind: str
    settings: Json
    data: Json
    metrics: Sequence[Json]
    stages: Sequence[str]

    @property
    def id(self) -> str:
        """The version's identity."""
        return digest(["evaluator", 1, self.kind, self.settings])

    def evaluation(self, log: str) -> str:
        """The identity of the evaluation of a log."""
        return digest(["evaluation", 1, log, self.id, self.data, 0])


def is_face(trial: Json) -> bool:
    """Whether a trial's settings are those of FACE, or of a method it is compared with."""
    return "evaluator" in trial


def is_simulated(trial: Json) -> bool:
    """Whether a trial's conversation was simulated."""
    return "session" in trial


def conversation(trial: Json) -> dict[str, Any]:
    """The settings that can change what was said; empty if the conversation was recorded."""
    if not is_simulated(trial):
        return {}
    return {
        "system": trial["system"],
        "user": trial["user"],
        "session": trial["session"],
        "models": _of_the_user(trial),
    }


def conversation_id(trial: Json, system: str, repeat: int, scenario: Json) -> str:
    """The identity of a simulated conversation."""
    return digest([2, system, scenario, repeat, conversation(trial)])


def _of_the_user(trial: Json) -> dict[str, Any]:
    """The model of the simulated user by alias; empty for a user by rule."""
    user = trial["user"]
    return {} if "rules" in user else _some(trial["models"], [user["user"]])


def _some(models: Json, aliases: Sequence[str]) -> dict[str, Any]:
    return {alias: models[alias] for alias in sorted(set(aliases)) if alias in models}


def core(trial: Json, config: Json) -> Evaluator:
    """The twelve judges and the debate; `config` is the file of a campaign that has the trial."""
    raters, debate = trial["raters"], trial["debate"]
    is_measured = raters.get("evaluator") == "measured"
    data = {name: raters[name] for name in sorted(_OF_A_CORPUS) if is_measured}
    settings = {
        "raters": {k: v for k, v in raters.items() if k not in data},
        "debate": debate,
        "models": _some(trial["models"], _judging(trial, config)),
    }
    declared = metrics.core(debate=debate is not None, llm=not is_measured)
    stages = ["rate"] if debate is None else ["rate", "debate"]
    return Evaluator("core", settings, data, declared, stages)


def _judging(trial: Json, config: Json) -> list[str]:
    """The aliases of all models that a campaign named for judges and debaters."""
    raters, debate = trial["raters"], trial["debate"] or {}
    judges, debating = config.get("judges") or {}, config.get("debate") or {}
    aliases: list[str] = []
    if raters.get("evaluator") != "measured":
        aliases += [*raters["model"], *(raters["routes"] or {}).values()]
        aliases += [*judges.get("models", ()), *judges.get("routing", {}).values()]
    if "models" in debate:
        aliases += debate["models"].values()
        aliases += [debating.get("model", ""), *debating.get("roles", {}).values()]
    return aliases


def outcome(trial: Json) -> Evaluator:
    """The evaluator that computes ratings from a log and asks its user."""
    user = trial.get("user")
    settings: dict[str, Any] = {"version": 1, "user": None, "models": {}}
    data: dict[str, Any] = {}
    if user is not None:
        settings["user"] = {k: v for k, v in user.items() if k != "catalogue"}
        settings["models"] = _of_the_user(trial)
        data = {"catalogue": user["catalogue"]} if "catalogue" in user else {}
    return Evaluator("outcome", settings, data, metrics.outcome(), ["log", "persuasiveness"])


def face(trial: Json, stages: Sequence[str]) -> Evaluator:
    """FACE, or a method it is compared with; `stages` are those of the campaign."""
    own = trial["evaluator"]
    kind = own.get("evaluator", "face")
    alias = own["scorer"]["model"] if kind == "face" else own["model"]
    models = {} if trial["model"] is None else {alias: {**trial["model"], "embedding": False}}
    known = {stage.rpartition("/")[2] for stage in stages}
    rated = [aspect for aspect in metrics.ASPECTS if aspect in known]
    logprobs = kind == "face" and own["scorer"]["method"] == "logprobs"
    declared = metrics.aspects(rated, logprobs=logprobs)
    done = ["particles", *rated] if kind == "face" else rated
    return Evaluator(kind, {**own, "models": models}, {}, declared, done)


def campaign_id(config: Json, own: str) -> str | None:
    """The identity by which a later start finds a campaign; None for one over recorded logs.

    `own` is its id: an optimisation of instructions keeps it.
    """
    if "optimisation" in config:
        return own
    if "evaluator" in config or not {"scenarios", "systems", "simulator"} <= config.keys():
        return None
    main = {} if config.get("model") is None else {"main": config["model"]}
    models, simulator = {**main, **config["models"]}, config["simulator"]
    content = {k: v for k, v in config.items() if k not in _OF_NO_CAMPAIGN}
    content["models"] = {}
    if simulator["kind"] == "llm" or (simulator["kind"] is None and models):
        spec = models[simulator["model"]]
        replies = {k: v for k, v in spec.items() if k not in _OF_NO_REPLY}
        content["models"] = {simulator["model"]: replies}
    content["systems"] = [
        {k: v for k, v in system.items() if k not in _OF_NO_SYSTEM} for system in config["systems"]
    ]
    return digest(content)[:12]
