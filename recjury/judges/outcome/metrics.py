"""The metrics of `outcome`."""

from recjury.records import PERSUASIVENESS, PERSUASIVENESS_SCALE, Metric, Need, metric_id

RECALL_CUTOFFS = (1, 5, 10)

_ITEMS = (Need.LIST, Need.TARGETS)


def _recall(prefix: str, suffix: str, *, detail: tuple[int, ...], of_some: bool) -> list[Metric]:
    return [
        Metric(
            id=f"{prefix}recall@{k}",
            title=f"Recall@{k}{suffix}",
            group="Recommendation",
            high=1,
            needs=_ITEMS,
            digits=3,
            detail=k in detail,
            of_some=of_some,
        )
        for k in RECALL_CUTOFFS
    ]


METRICS = (
    *_recall("", "", detail=(), of_some=False),
    *_recall("new_", " of new targets", detail=(1, 5), of_some=True),
    *_recall("last_turn_", " of the last turn", detail=RECALL_CUTOFFS, of_some=False),
    Metric(
        id="hit_round",
        title="Hit round",
        group="Recommendation",
        low=1,
        higher_is_better=False,
        needs=_ITEMS,
        detail=True,
        of_some=True,
    ),
    Metric(id="rounds", title="Rounds", group="Conversation", detail=True),
    *(
        Metric(id=name, title=title, group="Conversation", higher_is_better=False, detail=True)
        for name, title in (
            ("leaks_caught", "Leaks caught"),
            ("leaks_through", "Leaks through"),
            ("seconds_per_turn", "Seconds a turn"),
        )
    ),
    Metric(
        id="cost_per_turn",
        title="Cost a turn",
        group="Conversation",
        higher_is_better=False,
        detail=True,
        digits=6,
    ),
    Metric(
        id=metric_id(PERSUASIVENESS),
        title=PERSUASIVENESS,
        group="Conversation",
        low=PERSUASIVENESS_SCALE[0],
        high=PERSUASIVENESS_SCALE[1],
        needs=(Need.TARGETS,),
    ),
)
