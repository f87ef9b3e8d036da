"""The page: what it says, what it never lets through, and that it is the same each time."""

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from recjury.errors import ConfigError, StoreError
from recjury.records import Ending, StageResult, Usage
from recjury.report import write_report
from recjury.results import newest_campaign
from recjury.store import ForkedEvaluation, Store
from tests.report.filling import CAMPAIGN, Played, evaluator, fill
from tests.report.markup import Page
from tests.store import values

HOSTILE = "<script>alert(1)</script> \"quoted\" 'single' {{ 7*7 }} & \x00 \x1b[31m \u202e $\\frac$"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'runs.db'}") as opened:
        yield opened


def written(store: Store, path: Path, examples: int = 3) -> Page:
    """The page about the only campaign, parsed; fails where it does not balance."""
    write_report(store, path, campaign=CAMPAIGN, examples=examples)
    page = Page(path.read_text("utf-8"))
    assert page.wrong == []
    return page


def _several() -> list[Played]:
    return [
        Played(system, str(n), [float((n + i) % 5) for i in range(12)], hit_at=1 + n % 10)
        for system in ("kbrd", "retrieval")
        for n in range(6)
    ]


def test_the_page_says_what_was_run_and_what_came_of_it(store: Store, tmp_path: Path) -> None:
    fill(store, [*_several(), Played("kbrd", "9", failure="kbrd: no checkpoint")])
    words = written(store, tmp_path / "made" / "report.html").words
    for said in (
        "A small campaign",
        "kbrd (7 conversations, 1 failed)",
        "sample/test: 7, 6 of them played",
        "rule user",
        "core: measured judges, rule debaters (",
        "outcome: computed from the conversations, the rule user (",
        "recjury 0.1.0",
        "seed 7",
        "kbrd: no checkpoint",
        "86 %",
        "0.83 (86 %)",  # beside a bar of Recall@5
        "1.000n = 6",  # under the recall of new targets
        "kbrd − retrieval",
        "paired, 6 scenarios in common",
        "Best of 6 by rule verdict",
        "✓ target",
        "Coherence was counted over two system turns.",
        "As the Linguist I weighed my factors.",
    ):
        assert said in words
    assert list(tmp_path.glob("made/*")) == [tmp_path / "made" / "report.html"]


def test_hostile_text_is_shown_and_never_run(store: Store, tmp_path: Path) -> None:
    name = f"sys {HOSTILE}"
    fill(
        store,
        [
            Played(name, "1", said=HOSTILE, items=[HOSTILE] * 10, judge=HOSTILE),
            Played(name, f"2 {HOSTILE}", debater=HOSTILE, user=HOSTILE, corpus=f"c {HOSTILE}"),
            Played("other", "1", failure=HOSTILE),
        ],
        name=HOSTILE,
    )
    page = written(store, tmp_path / "report.html")
    source = (tmp_path / "report.html").read_text("utf-8")
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.words
    assert "{{ 7*7 }}" in page.words
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", source)


def test_nothing_is_fetched_from_anywhere(store: Store, tmp_path: Path) -> None:
    fill(store, [Played("a", "1", said="See http://127.0.0.1/x.png")])
    page = written(store, tmp_path / "report.html")
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    assert page.values("src") == []
    assert {link[0] for link in page.values("href") + page.values("xlink:href")} == {"#"}
    style = (tmp_path / "report.html").read_text("utf-8").partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_ten_megabytes_are_cut_and_say_so(store: Store, tmp_path: Path) -> None:
    huge = "x" * 10_000_000
    fill(store, [Played("a", "1", said=huge, items=[huge, *"bcdefghij"], judge=huge[:100_000])])
    words = written(store, tmp_path / "report.html").words
    assert "… cut here: 10,000,000 characters in all" in words
    assert (tmp_path / "report.html").stat().st_size < 500_000


def test_the_same_store_gives_the_same_bytes(store: Store, tmp_path: Path) -> None:
    fill(store, _several())
    for name in ("one.html", "two.html"):
        write_report(store, tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_figures_are_well_formed_and_hold_every_system_as_text(
    store: Store, tmp_path: Path
) -> None:
    fill(store, _several())
    write_report(store, tmp_path / "report.html")
    source = (tmp_path / "report.html").read_text("utf-8")
    figures = re.findall(r"<svg.*?</svg>", source, flags=re.DOTALL)
    assert len(figures) == 4
    for figure in figures:
        text = "".join(ElementTree.fromstring(figure).itertext())
        assert "kbrd" in text
        assert "retrieval" in text
        assert "currentColor" in figure


def test_results_by_rule_are_never_called_a_model_s(store: Store, tmp_path: Path) -> None:
    fill(store, _several())
    words = written(store, tmp_path / "report.html").words
    assert "core: measured, not judged by a language model" in words
    assert "The rule verdict comes from a fixed rule" in words
    assert "rated by a language model" not in words
    assert "debate between language models" not in words


def test_models_are_named_as_their_endpoint_knows_them(store: Store, tmp_path: Path) -> None:
    fill(store, [Played("a", "1", judge="main", debater="main", user="main")])
    words = written(store, tmp_path / "report.html").words
    assert "core: large-model-1 (main), large-model-1 (main) (1 of 1 done)" in words
    assert "outcome, core: all rated by a language model" in words
    assert "core: measured" not in words


def test_recorded_conversations_have_no_simulated_user(store: Store, tmp_path: Path) -> None:
    fill(
        store,
        [Played("a", "1", ending=Ending.RECORDED, user="none", persuasiveness=None)],
    )
    words = written(store, tmp_path / "report.html").words
    assert "User recorded users" in words
    assert "Conversations were recorded elsewhere" in words
    assert "outcome: Persuasiveness not measured: needs a knowledge graph 1 a 1" in words


def test_reasons_that_differ_in_numbers_alone_are_counted_together(
    store: Store, tmp_path: Path
) -> None:
    fill(
        store,
        [Played("a", str(n), failure=f"a: no answer in {n} s") for n in range(3)]
        + [Played("a", str(n), failure="a: error 500") for n in range(3, 5)],
    )
    words = written(store, tmp_path / "report.html").words
    assert "a: no answer in … s 3 a 3" in words
    assert "a: error 500 2 a 2" in words


def test_several_corpora_have_a_table_each(store: Store, tmp_path: Path) -> None:
    fill(store, [Played("a", "1", corpus="x/test"), Played("a", "1", corpus="y/test")])
    words = written(store, tmp_path / "report.html").words
    assert words.count("Means over the scenarios of this corpus") == 2 * 2


def test_what_has_failed_altogether_is_still_a_page(store: Store, tmp_path: Path) -> None:
    fill(store, [Played("a", "1", failure="gone"), Played("b", "1", [None] * 12, [], None)])
    words = written(store, tmp_path / "report.html").words
    assert "none could be scored" in words
    assert "gone" in words


@pytest.mark.parametrize(("examples", "shown"), [(0, 0), (1, 1), (3, 3), (9, 6)])
def test_as_many_conversations_as_asked_for(
    store: Store, tmp_path: Path, examples: int, shown: int
) -> None:
    fill(store, _several()[:6])
    words = written(store, tmp_path / "report.html", examples=examples).words
    assert words.count("of 6 by rule verdict") == shown


def test_the_page_is_about_the_newest_campaign_and_names_the_others(
    store: Store, tmp_path: Path
) -> None:
    fill(store, [Played("a", "1", scores=[(20.0,) * 4])], name="Measured", campaign="one")
    other = {"raters": "large"}
    fill(
        store,
        [Played("a", "1", scores=[(80.0,) * 4], settings=other)],
        name="With a model",
        campaign="two",
        evaluators=[evaluator("core", version=1)],
    )
    write_report(store, tmp_path / "report.html")
    words = Page((tmp_path / "report.html").read_text("utf-8")).words
    assert "a (1 conversation)" in words
    assert "80.0" in words
    assert "20.0" not in words
    assert "Measured one, 1 conversation" in words
    assert newest_campaign(store) == "two"


def test_an_empty_store_and_a_path_that_cannot_be_written_are_one_line(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="no conversation to report on"):
        write_report(store, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()
    fill(store, [Played("a", "1")])
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot write the report"):
        write_report(store, tmp_path / "file" / "report.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match="cannot write the report"):
        write_report(store, tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="pipe: it is not a regular file"):
        write_report(store, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.glob("*.html*")) == []
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_an_earlier_version_stands_below_and_is_not_compared(store: Store, tmp_path: Path) -> None:
    old = evaluator("core", version=1)
    for version, score in ((old, 1.25), (evaluator("core"), 3.0)):
        played = [Played(name, str(n), [score] * 12) for name in "ab" for n in range(2)]
        fill(store, played, evaluators=[version])
    words = written(store, tmp_path / "report.html").words
    above, _, below = words.partition("Earlier versions")
    assert "3.00" in above
    assert "1.25" not in above
    assert f"core@{old.id[:4]} (4 evaluations)" in below
    assert "1.25" in below
    assert words.count("core: Rule verdict") == 2


def test_several_evaluators_have_a_table_each(store: Store, tmp_path: Path) -> None:
    strict = evaluator("core", name="strict", version=1)
    fill(store, _several(), evaluators=[evaluator("outcome"), strict, evaluator("core")])
    page = written(store, tmp_path / "report.html")
    assert "strict (core)" in page.words
    assert "strict: measured judges, rule debaters (12 of 12 done)" in page.words
    assert "strict, core: all measured, not judged by a language model" in page.words
    assert "Debate of strict" in page.words


def test_conversations_that_nobody_evaluates_are_shown(store: Store, tmp_path: Path) -> None:
    fill(store, _several(), evaluators=[])
    words = written(store, tmp_path / "report.html").words
    assert "Evaluators none" in words
    assert "One of 6, none of them scored" in words


def test_a_cost_that_is_not_known_is_no_zero(store: Store, tmp_path: Path) -> None:
    fill(store, [Played("a", "1")])
    unpriced = values.call(1)
    reply = unpriced.reply._replace(usage=Usage(prompt_tokens=1, completion_tokens=1))
    unit = store.conversations()[0].id

    async def record() -> None:
        async with store.recorder() as recorder:
            await recorder.record(unpriced._replace(reply=reply, unit=unit))

    asyncio.run(record())
    words = written(store, tmp_path / "report.html").words
    assert "at an unknown cost, because not all prices are known" in words
    assert "$" not in words
    assert "estimated" not in words


def test_tokens_that_were_not_reported_are_said_to_be_estimated(
    store: Store, tmp_path: Path
) -> None:
    fill(store, [Played("a", "1")])
    call = values.call(1)
    reply = call.reply._replace(usage=call.reply.usage._replace(estimated=True))

    async def record() -> None:
        async with store.recorder() as recorder:
            unit = store.conversations()[0].id
            await recorder.record(call._replace(reply=reply, unit=unit))

    asyncio.run(record())
    words = written(store, tmp_path / "report.html").words
    assert "; the tokens of 1 of these calls were not reported, and are estimated" in words


def test_a_fork_is_named_beside_its_debate_and_enters_no_mean(store: Store, tmp_path: Path) -> None:
    one, core = Played("a", "1"), evaluator("core")
    fill(store, [one], evaluators=[core])
    before = written(store, tmp_path / "report.html").words
    (held,) = store.debates()
    forked = ForkedEvaluation(identity="f0" * 16, original=held.evaluation, spec={"from": 1})
    changed = Played("a", "1", scores=[(90.0,) * 4]).debate()
    asyncio.run(store.save_fork(forked, StageResult(debate=changed)))
    words = written(store, tmp_path / "report.html").words
    named = f"Forks of this debate, which are not part of any mean: {'f0' * 16}: 90.0"
    assert words.replace(f" {named}", "") == before
    assert named in words
