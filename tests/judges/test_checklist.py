"""CoRE's prompts: against a checklist of the paper, and against golden files.

`python -m tests.judges.test_checklist` writes the golden files.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
import yaml

import recjury
from recjury.debate import RolePrompts, roles_of
from recjury.judges import Core, criteria_of, question
from recjury.judges.subjects import Subject
from recjury.llm.prompts import pack
from recjury.records import CODE, Message, Rating, Record, Statement, Status, Turn
from tests.logs import CATALOGUE, LOG, SCENARIO, log_of

HERE = Path(__file__).parent
SOURCE = Path(recjury.__file__).parent
PackName = Literal["core", "core-paper"]
PACKS: tuple[PackName, ...] = ("core", "core-paper")
FULL = log_of(
    *LOG.interaction,
    Turn(speaker="system", failure="no answer"),
    scenario=SCENARIO.model_copy(update={"wishes": ("a heist",)}),
)
PARTS = {"A.1.1, table 3"} | {f"A.1.{n}, table {n + 8}" for n in range(2, 13)}
PLACES = PARTS | {"table 2", "table 4", "table 6", "4.2", "6.5", "D", "ours"}


class Row(Record):
    """An input that the paper names, and the line of the packs that shows it."""

    place: str
    input: str
    file: str
    line: str
    of: tuple[str, ...] = ()
    packs: tuple[PackName, ...] = PACKS
    differs: str = ""

    @property
    def room(self) -> str:
        return self.file.partition("/")[0]

    def path(self, name: str) -> Path:
        return SOURCE / self.room / "prompts" / name / Path(self.file).name


def rows() -> Iterator[Row]:
    for group in yaml.safe_load((HERE / "core_checklist.yaml").read_text("utf-8")):
        shared = {key: value for key, value in group.items() if key != "rows"}
        for row in group["rows"]:
            values = shared | row
            of = values.get("of", ())
            yield Row.model_validate(values | {"of": [of] if isinstance(of, str) else of})


CHECKLIST = list(rows())


@cache
def judge_prompts(name: str) -> dict[str, list[Message]]:
    """The prompt of each factor."""
    words, subject, facts = pack(f"judges/{name}"), Subject(FULL), CATALOGUE.facts
    return {c.name: question(words, c, subject, facts=facts) for c in criteria_of(words)}


@cache
def role_prompts(name: str, number: int) -> dict[str, list[Message]]:
    """The prompt of each role in a round; the HCI Expert was missing in the first one."""
    words = pack(f"debate/{name}")
    names = [c.name for c in criteria_of(pack(f"judges/{name}"))]
    ratings = [
        Rating(metric=each.lower().replace(" ", "_"), rater="main", score=3, rationale="why so")
        for each in names
    ]
    scores = {"Common User": 40, "Domain Expert": 55, "Linguist": 90}
    said = [
        Statement(role=role, round=1, speaker="main", text="It found one.", score=score)
        for role, score in scores.items()
    ]
    lost = Statement(role="HCI Expert", round=1, speaker="main", status=Status.UNREADABLE)
    prompts = RolePrompts(words, FULL, ratings, facts=CATALOGUE.facts)
    heard = [*said, lost] if number > 1 else []
    return {role: prompts.prompt(role, number, heard) for role in prompts.roles}


def rendered(room: str, name: str) -> dict[str, str]:
    """What a model reads, by factor or role; of a role, two rounds."""
    if room == "judges":
        return {factor: text_of(prompt) for factor, prompt in judge_prompts(name).items()}
    first, second = role_prompts(name, 1), role_prompts(name, 2)
    return {role: text_of(first[role]) + text_of(second[role]) for role in first}


def text_of(prompt: Iterable[Message]) -> str:
    return "\n".join(message.text for message in prompt)


@pytest.mark.parametrize("row", CHECKLIST, ids=lambda row: f"{row.place}: {row.input}")
def test_each_input_of_the_paper_has_its_line(row: Row) -> None:
    assert row.line
    for name in row.packs:
        texts = rendered(row.room, name)
        for each in row.of or texts:
            assert row.line in texts[each], f"{name}, {each}"
        if row.file.endswith("manifest.yaml"):
            assert row.line in " ".join(row.path(name).read_text("utf-8").split())
        assert row.path(name).is_file()


def test_a_departure_has_its_reason() -> None:
    departures = [row for row in CHECKLIST if row.packs != PACKS or row.place == "ours"]
    assert not [(row.place, row.input) for row in departures if not row.differs]


def test_each_place_of_the_paper_has_rows() -> None:
    assert {row.place for row in CHECKLIST} == PLACES
    for part in PARTS:
        assert len({row.of for row in CHECKLIST if row.place == part}) == 1, part


def pieces(name: str) -> Iterator[tuple[str, str, str]]:
    """Whatever a factor or a role of a pack says: room, factor or role, text."""
    for factor in criteria_of(pack(f"judges/{name}")):
        anchors = (f"{score}: {anchor}" for score, anchor in factor.anchors.items())
        for text in (factor.definition, *anchors, *factor.steps):
            yield "judges", factor.name, text
    for title, role in roles_of(pack(f"debate/{name}")).items():
        for text in (role.who, *role.concerns.values(), *role.expertise):
            yield "debate", title, text


@pytest.mark.parametrize("name", PACKS)
def test_each_piece_of_a_pack_has_a_row(name: str) -> None:
    lines = [
        (row.room, each, row.line) for row in CHECKLIST if name in row.packs for each in row.of
    ]
    without = [
        (of, text)
        for room, of, text in pieces(name)
        if not any((room, of) == (r, o) and line in text for r, o, line in lines)
    ]
    assert not without


def golden(name: str) -> str:
    """Two factors and two roles, with the marks as they stand in templates."""
    judges, first, second = judge_prompts(name), role_prompts(name, 1), role_prompts(name, 2)
    prompts = {factor: judges[factor] for factor in ("Effectiveness", "Naturalness")}
    prompts["Linguist, round 1"] = first["Linguist"]
    prompts["Common User, round 2"] = second["Common User"]
    return "".join(f"===== {title}\n{_marked(prompt)}\n" for title, prompt in prompts.items())


def _marked(prompt: Iterable[Message]) -> str:
    texts = (f"[{each.role}]\n" + "{{ cut }}".join(each.parts) for each in prompt)
    return "\n".join(texts).replace(CODE, "{{ code }}")


@pytest.mark.parametrize("name", PACKS)
def test_the_prompts_are_the_golden_ones(name: str) -> None:
    assert golden(name) == (HERE / "golden" / f"{name}.txt").read_text("utf-8"), (
        "A prompt has changed. If no file of its pack has, raise Core.RENDERING, since identities "
        "have it and the packs' digests; then write the golden files anew."
    )
    assert Core.RENDERING == 2


if __name__ == "__main__":
    for each in PACKS:
        (HERE / "golden" / f"{each}.txt").write_text(golden(each), "utf-8")
