"""What the rule user has in mind when it speaks: its wants, what it told, what it heard."""

from collections.abc import Callable, Sequence
from functools import cached_property
from random import Random

from recjury.knowledge import BOOK, FILM, Catalogue, fold
from recjury.records import Domain, Item, Speaker, Turn, UserContext, digest
from recjury.simulator.agenda import (
    Aim,
    CatalogueValues,
    Want,
    aim_of,
    behind_kind,
    is_about,
    is_of_time,
    kinds,
    letters,
)
from recjury.simulator.grammar import Grammar, phrases, with_article
from recjury.simulator.item_fit import ItemFit, says
from recjury.simulator.past_wish import PastWish, past_wish
from recjury.simulator.read_turn import ReadTurn, hear, named_before

CURIOUS = ("curious", "curious_known", "pick")  # rules that ask about a suggestion
_NAMES_EARLY = 2  # turns in which it says a name that nobody asked for
_KNOWN_FOR = 4  # items with a person from which people know the name
_FIRST_LISTED = 3


class UserState:
    """The state of one user; everything is read from the context when it is needed."""

    def __init__(
        self,
        catalogue: Catalogue,
        values: CatalogueValues,
        context: UserContext,
        leaks: Callable[[str], bool],
        *,
        seed: int,
        attempt: int,
    ):
        """`leaks` tells whether a text names a target; `attempt` varies the choice of words."""
        self.catalogue = catalogue
        self.fit = ItemFit(catalogue)
        self.context = context
        self._values = values
        self._leaks = leaks
        self._seed = seed
        turn = self.random("turn", str(len(context.interaction)), str(attempt))
        self.grammar = Grammar(turn, self.said, context.person.traits.language)

    def random(self, *what: str) -> Random:
        """Random numbers that belong to this conversation and to `what`."""
        return Random(digest([self._seed, self.context.scenario.id, *what]))

    @cached_property
    def said(self) -> list[str]:
        """What the user said in this conversation; not what the person said in the history."""
        return [t.text for t in self.context.interaction if t.speaker is Speaker.USER]

    @cached_property
    def system_turns(self) -> tuple[Turn, ...]:
        """The system's turns since the history."""
        return tuple(t for t in self.context.interaction if t.speaker is Speaker.SYSTEM)

    @cached_property
    def domain(self) -> Domain:
        """What the user looks for: films, books, ..."""
        return self.catalogue.wanted_domain(self.context.scenario)

    @property
    def tells_stories(self) -> bool:
        """Whether one can ask what the items are about."""
        return self.domain.name in (FILM, BOOK)

    @cached_property
    def heard(self) -> ReadTurn:
        """What the system said last."""
        return hear(self.context, self.catalogue, self.domain)

    @cached_property
    def targets(self) -> list[Item]:
        """The targets that the catalogue knows."""
        ids = (target.id for target in self.context.scenario.targets)
        return [
            self.catalogue.item(id_) for id_ in ids if id_ is not None and id_ in self.catalogue
        ]

    @cached_property
    def aim(self) -> Aim:
        """What the user is after, without what it may not say."""
        aim = aim_of(
            self.context.person,
            self.targets,
            self.context.scenario.wishes,
            self.domain,
            self.random("agenda"),
        )
        knows_makers = self.context.person.traits.knowledge != "low"
        wants = (want for want in aim.wants if want.role != "maker" or knows_makers)
        return aim._replace(wants=tuple(want for want in wants if self.may_say(want)))

    @cached_property
    def wish(self) -> PastWish:
        """What the person wanted in the history."""
        return past_wish(
            self.context.scenario.history,
            self.catalogue,
            self._values,
            self.domain,
            self.may_say,
        )

    @cached_property
    def lead(self) -> tuple[Want, ...]:
        """The want of the history to begin with, if any.

        It is the last one, but no item that lacks what the person asked for in so many words.
        """
        wants = self.wish.wants
        asked = [want for want in wants if want.role == "category" and want in self.wish.lately]
        if wants and wants[0].role == "like" and asked:
            met = any(self.fit.go_together(wants[0], want) for want in asked)
            return wants[:1] if met else tuple(asked[:1])
        return wants[:1]

    def goes_with_wish(self, category: str) -> bool:
        """Whether items that have what the person asked for often have this category, too."""
        asked = [want.value for want in self.wish.wants if want.role == "category"]
        if not self.wish.wants or category in self.tells_kinds:
            return True
        return any(self._values.often_together(each, category) for each in asked)

    def may_say(self, want: Want) -> bool:
        """Whether saying it names no target, and is no value that only targets have."""
        ids = frozenset(target.id for target in self.targets)
        if want.role == "like":
            return not self._leaks(f"I liked {want.value}, yes.")
        if self._is_public(want.value):
            return not self._leaks(f"I like {want.value}, yes.")
        if self._values.gives_away(want.value, ids) or self._is_barred(want.value):
            return False
        return not self._leaks(f"I like {want.value}, yes.")

    def _is_public(self, value: str) -> bool:
        """Whether the history has said the value."""
        return f" {letters(value)} " in f" {self._history} "

    @cached_property
    def _history(self) -> str:
        return letters(" ".join(turn.text for turn in self.context.scenario.history))

    def _is_barred(self, value: str) -> bool:
        return any(fold(value) == fold(each.value) for each in self.context.barred)

    @cached_property
    def told(self) -> tuple[Want, ...]:
        """The wants that the history or the user's turns have told, in the agenda's order."""
        spoken = " ".join(self.said)
        told = [want for want in self.aim.wants if says(spoken, want)]
        return tuple(dict.fromkeys((*self.wish.wants, *told)))

    def told_last(self, want: Want) -> int:
        """The number of the user's last turn that said a want, from 1 on; 0 for the history."""
        turns = [number for number, text in enumerate(self.said, 1) if says(text, want)]
        return max(turns, default=0)

    @cached_property
    def left(self) -> tuple[Want, ...]:
        """The wants that are still to be told, without what the history speaks against."""
        known = {fold(want.value) for want in self.told}
        names = {letters(want.value) for want in self.told if want.role in ("cast", "maker")}
        own_era = any(want.role == "era" for want in self.wish.wants)
        times = self.wish.times
        return tuple(
            want
            for want in self.aim.wants
            if fold(want.value) not in known
            and letters(want.value).rpartition(" ")[2] not in names
            and not (want.role == "category" and want.value in self.wish.refused)
            and not (want.role == "era" and (own_era or not is_of_time(want.value, times)))
        )

    @cached_property
    def unasked(self) -> tuple[Want, ...]:
        """Those that one says without being asked, and that the suggestions do not have yet.

        Names are said only early, of well-known people, and if the history has no wish: a name that
        comes out of nothing sounds like a hint.
        """
        early = len(self.said) < _NAMES_EARLY and not self.wish.wants
        early = early or self.context.person.knows == "wishes"
        quoted = any(want.role in ("ask", "clause") for want in self.wish.wants[:1])
        late = len(self.said) >= _NAMES_EARLY
        kinds_told = sum(each.role == "category" and self.told_last(each) > 0 for each in self.told)
        no_kinds = kinds_told > 1 or (quoted and not late)
        return tuple(
            want
            for want in self.left
            if not self.is_met(want)
            and not (no_kinds and want.role == "category")
            and (late or want.role != "category" or self.goes_with_wish(want.value))
            and (
                want.role not in ("cast", "maker")
                or (early and self._values.number_with(want.value) >= _KNOWN_FOR)
            )
        )

    @cached_property
    def missed(self) -> Want | None:
        """A category that was wanted twice or more, and that the suggestions do not have."""
        for want in self.wish.wants or self.told:
            times = sum(says(text, want) for text in (self._history, *self.said))
            wanted = want.role == "category" and times > 1 and self.is_common(want)
            if wanted and not self.is_met(want):
                return want
        return None

    @cached_property
    def suggested(self) -> list[Item]:
        """The items of the system's last turn: those that it names, or the first of its list."""
        ids: list[str | None] = list(self.heard.named)
        if not ids and self.context.shows_list:
            ids = [item.id for item in self.system_turns[-1].items][:_FIRST_LISTED]
        return [self.catalogue.item(id_) for id_ in ids if id_ and id_ in self.catalogue]

    @cached_property
    def asked_item(self) -> Item | None:
        """The suggestion that the user's last turn asked about, if it did."""
        last = self.said[-1] if self.said else ""
        if not any(self.grammar.is_of(rule, last) for rule in CURIOUS):
            return None
        named = [each for turn in self.system_turns[:-1][-1:] for each in self._named_in(turn)]
        return next((item for item in named if item.title in last), None)

    def _named_in(self, turn: Turn) -> list[Item]:
        return [self.catalogue.item(each.id) for each in self.catalogue.link(turn.text)]

    @cached_property
    def tells_kinds(self) -> frozenset[str]:
        """The categories of what the person liked in the history."""
        return frozenset(each for item in self.liked for each in self.fit.categories(item))

    @cached_property
    def named_earlier(self) -> frozenset[str]:
        """The items that the system named before its last turn."""
        return named_before(self.system_turns[:-1], self.catalogue)

    def has_done(self, item: Item) -> bool:
        """Whether the user has seen or read the item: drawn once for each conversation."""
        if item.id in self.wish.items.unseen or item.id in self.wish.items.chosen:
            return False
        chance = {"low": 0.08, "medium": 0.2, "high": 0.35}[self.context.person.traits.knowledge]
        known = self.catalogue.little_known(item.id) is not True
        return self.random("done", item.id).random() < (chance if known else chance / 4)

    # --- what fits a want ------------------------------------------------------------------------

    def is_met(self, want: Want, items: Sequence[Item] | None = None) -> bool:
        """Whether most of the items have what is wanted: by default the last suggestions."""
        fit = [self.fit.fits(item, want) for item in (self.suggested if items is None else items)]
        return bool(fit) and sum(fit) * 2 >= len(fit)

    def strange_categories(self, item: Item) -> list[str]:
        """The item's categories that the user does not want, nor likes in other items."""
        told = {want.value for want in self.told if want.role == "category"}
        wanted = self.aim.categories | told | self.tells_kinds
        return [each for each in self.fit.categories(item) if each not in wanted]

    @cached_property
    def liked(self) -> list[Item]:
        """The items that the person liked in the history."""
        return [self.catalogue.item(id_) for id_ in self.wish.liked if id_ in self.catalogue]

    # --- words ---------------------------------------------------------------------------------

    def words(self, domain: Domain | None = None) -> dict[str, str]:
        """The words of a domain, the wanted one by default: slots of every sentence."""
        domain = domain or self.domain
        nouns = [(domain.item, domain.items)]
        nouns += list(zip(domain.synonyms[::2], domain.synonyms[1::2], strict=False))
        noun, nouns_ = nouns[self.random("noun", str(len(self.said))).randrange(len(nouns))]
        evening = {"night": "tonight", "list": "tonight's list"} if domain.name == FILM else {}
        evening = evening or {"list": "my list"}
        return {
            "noun": noun,
            "nouns": nouns_,
            "verb": domain.verb,
            "done": domain.done,
        } | evening

    def kind_slots(self, category: str) -> dict[str, str]:
        """ "a comedy", "comedies", and the category itself."""
        words = self.words()
        one, many = kinds(category, words["noun"], words["nouns"])
        return {"value": category, "a_kind": with_article(one), "kinds": many}

    def its_slots(self, categories: Sequence[str]) -> dict[str, str]:
        """What an item of these categories is: "a horror film"; {} without any."""
        if not categories:
            return {}
        one, many = kinds(categories[0], self.domain.item, self.domain.items)
        return {"its": with_article(one), "its_bare": one, "its_many": many}

    def is_common(self, category: Want) -> bool:
        """Whether the catalogue has enough items of a category to miss it in others."""
        return self._values.is_common(category.value)

    def thing(self, wants: tuple[Want, ...], *, by_name: bool = False) -> str:
        """A noun phrase for one or two wants: "a crime film with Al Pacino".

        `by_name` says a category by its name, not in other words.
        """
        grammar = self.grammar
        own = next((want for want in wants if want.role in ("ask", "clause")), None)
        category = next((want for want in wants if want.role == "category"), None)
        if own is not None and category is not None and is_about(own):
            return f"{self.kind_slots(category.value)['a_kind']} {behind_kind(own)}"
        if own is not None:
            return own.value
        rest = [want for want in wants if want is not category]
        head = "something" if grammar.happens(0.5) else with_article(self.words()["noun"])
        if category is not None:
            feels = phrases().feels.get(category.value, [])
            head = self.kind_slots(category.value)["a_kind"]
            if feels and not rest and not by_name and grammar.happens(0.25):
                head = f"something {grammar.choice(feels)}"
        return " ".join((head, *map(self._modifier, rest)))

    def _modifier(self, want: Want) -> str:
        match want.role:
            case "like":
                return self.grammar.choice((f"like {want.value}", f"in the vein of {want.value}"))
            case "era":
                return f"from {want.value}"
            case "cast" | "maker":
                return f"{want.by or 'by'} {want.value}"
            case _:
                return want.value
