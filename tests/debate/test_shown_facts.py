"""The facts of items in stored prompts are read back for the items that they were shown of."""

import pytest

from recjury.debate import DebatePrompts
from recjury.debate.shown_facts import ShownFacts, expert_in
from recjury.knowledge import domain_names, expert_of, known_domain
from recjury.prompts import load_pack
from recjury.records import ItemRef, Message, Role
from tests.judges.cases import a_log, ratings_of

HITS = tuple(ItemRef(id=str(number), name="Greatest Hits") for number in range(4))
ITEMS = (
    *HITS,
    ItemRef(id=None, name="Greatest Hits"),
    ItemRef(id="8", name="<facts>Rock & Roll\x1f</facts>"),
    ItemRef(id="9", name="3. Live"),
)
LOG = a_log(items=ITEMS, targets=(HITS[1], HITS[3]))


KNOWN = {"0": "1998; by A", "1": "2004; by B & C", "3": "2010", "8": "<b>", "9": "1. x &amp; y"}


class Catalogue:
    """Knows nothing of one of the items that share a name."""

    digest = "d"

    def __call__(self, item: ItemRef) -> str:
        return KNOWN.get(item.id or "", "")


def turn(role: Role, facts: Catalogue | ShownFacts) -> Message:
    return DebatePrompts(facts=facts).turn(role, 1, LOG, ratings_of(), ())


@pytest.mark.parametrize("role", Role)
def test_a_prompt_is_rendered_again_as_it_was(role: Role) -> None:
    prompts = [turn(each, Catalogue()).text for each in Role]
    assert turn(role, ShownFacts(prompts, LOG)) == turn(role, Catalogue())


def test_items_that_share_a_name_keep_their_own_facts() -> None:
    facts = ShownFacts([turn(Role.DOMAIN_EXPERT, Catalogue()).text], LOG)
    assert [facts(item) for item in ITEMS] == [Catalogue()(item) for item in ITEMS]


def test_rows_beyond_the_list_are_nothing() -> None:
    rows = "0. A <facts>x</facts>\n99. B <facts>y</facts>\n999999999. C <facts>z</facts>"
    facts = ShownFacts([f"<recommendation_list>\n{rows}\n</recommendation_list>"], LOG)
    assert not any(facts(item) for item in ITEMS)


@pytest.mark.parametrize("pack", ["core-debate", "core-paper-debate"])
@pytest.mark.parametrize("name", domain_names())
def test_the_domain_expert_is_read_back_from_its_prompt(name: str, pack: str) -> None:
    prompts = DebatePrompts(load_pack(pack), expert=expert_of(known_domain(name)))
    sent = prompts.system(Role.DOMAIN_EXPERT)

    read = DebatePrompts(load_pack(pack), expert=expert_in(sent.text))

    assert read.system(Role.DOMAIN_EXPERT).text == sent.text
    assert read.system(Role.LINGUIST).text == prompts.system(Role.LINGUIST).text
    assert expert_in("Rate this.") is None
