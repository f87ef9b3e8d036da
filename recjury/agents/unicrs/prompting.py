"""Train UniCRS's prompts alone, with published backbones that stay frozen.

Wang et al., 2022, section 4: the prompts learn the replies first. The result is the start of the
prompts for recommending and of those for replies, which are then trained separately.
"""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.agents.kbrd.dataset import ENTITY_LIMIT
from recjury.agents.kbrd.edges import Neighbourhoods
from recjury.agents.neural.backbones import Origin
from recjury.agents.neural.description import Backbone, Limits
from recjury.agents.neural.tokens import ITEM
from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.run import TrainingRun
from recjury.agents.unicrs.assembly import FIRST_POSITION, assemble, read_texts
from recjury.agents.unicrs.backbone_files import Folders, read_gpt2, read_roberta
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.objective import UnicrsRanking, UnicrsReplying, frozen
from recjury.agents.unicrs.texts import PROMPT, Texts
from recjury.errors import DataError

_ROUNDED = 7  # a context is filled up to the next multiple of 8
_LEAST = 16


class Begun(NamedTuple):
    """A model with frozen backbones, how it reads texts, and its entries in `recjury.json`."""

    model: Unicrs
    texts: Texts
    backbones: Mapping[str, Backbone]


def begin(session: TrainingRun, origins: Mapping[str, Origin], limits: Limits) -> Begun:
    """Combine the backbones with untrained prompts; `limits` are reduced to their positions.

    Raises ConfigError for missing files, and DataError for files that do not fit.
    """
    places = Folders(gpt2=origins["gpt2"].folder, roberta=origins["roberta"].folder)
    texts = read_texts(places, limits, ITEM)
    texts = Texts(texts.gpt2, texts.text, fitting(places, texts), ITEM)
    space = session.space
    model, _, digests = assemble(places, texts, entities=space.entities, relations=space.relations)
    frozen(model.gpt2)
    frozen(model.text)
    described = {
        kind: Backbone(name=origin.name, digest=digests[kind], frozen=True)
        for kind, origin in origins.items()
    }
    return Begun(model.eval(), texts, described)


def train_prompts(
    session: TrainingRun,
    model: Unicrs,
    texts: Texts,
    edges: Neighbourhoods,
    plans: Mapping[str, TrainingPlan],
) -> UnicrsRanking:
    """Train both prompt encoders by the plans for "prompts", "recommender" and "generator"."""
    first = UnicrsReplying(model, texts, edges, session.said, session.heldout, part="prompts")
    session.fit(model.conv, first, plans["prompts"])
    model.rec.load_state_dict(model.conv.state_dict())
    recommending = UnicrsRanking(model, texts, session.space, edges, session.parts)
    session.fit(model.rec, recommending, plans["recommender"])
    speaking = UnicrsReplying(model, texts, edges, session.said, session.heldout)
    session.fit(model.conv, speaking, plans["generator"])
    return recommending


def fitting(places: Folders, texts: Texts) -> Limits:
    """The limits, reduced if the backbones have too few positions.

    GPT-2 needs one position for each token of context, prompt and reply, padded as in the published
    code. Context and reply are reduced in proportion.
    """
    wanted = texts.limits
    spare = len(texts.gpt2.encode(PROMPT)) + _ROUNDED
    room = min(int(read_gpt2(places.gpt2).n_positions) - spare, wanted.context + wanted.response)
    context = room * wanted.context // (wanted.context + wanted.response)
    reads = int(read_roberta(places.roberta).max_position_embeddings) - FIRST_POSITION
    if min(room - context, context, reads) < _LEAST:
        raise DataError(
            f"too few positions for context and reply: expected at least {_LEAST} for each",
            path=places.gpt2 if reads >= _LEAST else places.roberta,
        )
    return Limits(
        context=min(context, reads),
        entities=min(wanted.entities, ENTITY_LIMIT),
        response=room - context,
    )
