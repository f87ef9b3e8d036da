"""The prompts that ask for a rating, with examples or without, and shorter ones."""

from collections.abc import Iterator, Sequence
from typing import Literal

from recjury.judges.dialogue_quality.subjects import EXAMPLE_TURNS, LabelledSubject, Subject
from recjury.judges.fitting import fewer_turns
from recjury.llm import Prompt
from recjury.prompts import Pack, load_pack, turns_block
from recjury.records import Level, Message, Turn
from recjury.stats.satisfaction import DEFECT

PACK = "dialogue-quality"
Labels = Literal["likert", "binary"]
Order = Literal["analysis-first", "rating-first"]
RATINGS = ("1", "2", "3", "4", "5")
BINARY = ("yes", "no")
"""The words for a satisfied user and for one who is not."""


class QualityPrompts:
    """The prompts of one form of asking."""

    def __init__(
        self, form: Order | Literal["logits"], labels: Labels = "likert", pack: Pack | None = None
    ):
        """`form` is "logits", which asks for one word, or an order of generation; `labels` says
        whether the word is a rating from 1 to 5, or yes or no."""
        self.form, self.labels = form, labels
        self._pack = pack or load_pack(PACK)
        self._system = Message("system", self._pack.render("system"))
        criteria = self._pack.render("criteria", criteria=self._pack.manifest["criteria"])
        self._criteria = "".join(criteria)

    @property
    def identity(self) -> str:
        """Name, version and content hash of the pack."""
        return self._pack.identity()

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that the logits form asks for."""
        return RATINGS if self.labels == "likert" else BINARY

    def label(self, rating: float) -> str:
        """A mean rating as the word that stands for it; halves are rounded up."""
        if self.labels == "binary":
            return BINARY[0] if rating > DEFECT else BINARY[1]
        return str(int(rating + 0.5))

    def of(
        self, subject: Subject, examples: Sequence[LabelledSubject] = (), most: int | None = None
    ) -> Prompt:
        """The prompt about `subject` after `examples`; of each dialogue, at most the last `most`
        turns are shown."""
        shown = _Shown(most)
        blocks = [
            {
                "block": shown.block(_of_example(example.subject)),
                "label": self.label(example.label),
            }
            for example in examples
        ]
        before = (*self._pack.render("examples", examples=blocks), "\n\n") if blocks else ()
        target = self._pack.manifest["targets"][str(subject.level)]
        block = shown.block(subject.turns)
        if self.form == "logits":
            yes, no = BINARY
            asked = self._pack.render(
                f"logits_{self.labels}", block=block, target=target, yes=yes, no=no
            )
        else:
            asked = self._pack.render(
                self.form.replace("-", "_"),
                block=block,
                target=target,
                criteria=self._criteria,
                aspects=self._pack.manifest["aspects"],
            )
        return Prompt((self._system, Message("user", (*before, *asked))), shown.left_out)

    def shorter(
        self, subject: Subject, examples: Sequence[LabelledSubject] = ()
    ) -> Iterator[Prompt]:
        """The prompt as it is, and then with fewer and fewer of the oldest turns of the longest
        dialogues, down to one turn."""
        lengths = [len(_of_example(each.subject)) for each in examples]
        for most in fewer_turns(max(len(subject.turns), *lengths, 1)):
            yield self.of(subject, examples, most)


class _Shown:
    """The blocks of one prompt; `left_out` counts the turns that are not shown."""

    def __init__(self, most: int | None):
        self._most = most
        self.left_out = 0

    def block(self, turns: tuple[Turn, ...]) -> str:
        """The last of these turns."""
        last = turns if self._most is None else turns[-self._most :]
        self.left_out += len(turns) - len(last)
        return turns_block("conversation", last)


def _of_example(subject: Subject) -> tuple[Turn, ...]:
    return subject.turns if subject.level is Level.DIALOGUE else subject.turns[-EXAMPLE_TURNS:]
