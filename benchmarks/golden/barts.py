"""KBRD and BARCOR against their golden vectors."""

from collections.abc import Sequence

import torch
from torch import Tensor

from benchmarks.golden.compared import Compared
from benchmarks.golden.files import Golden
from recjury.agents.barcor import checkpoint as barcor_checkpoint
from recjury.agents.barcor.recommender import BarcorRanker, barcor_generator
from recjury.agents.kbrd import checkpoint as kbrd_checkpoint
from recjury.agents.kbrd.generator import load_generator
from recjury.agents.kbrd.recommender import KbrdRanker, kbrd_generator
from recjury.agents.neural.bart import BartLanguageModel, padded
from recjury.agents.neural.bart_generator import BartGenerator
from recjury.agents.neural.context import EncodedContext
from recjury.agents.neural.description import Limits


def kbrd(golden: Golden) -> Compared:
    """Nodes, users, scores, encoder states, teacher-forced scores, lists and texts."""
    limits = _limits(golden)
    space, compared = golden.space(), Compared(golden)
    loaded = kbrd_checkpoint.load(
        golden.folder, entities=space.entities, relations=space.relations, fidelity="ievalm"
    )
    speech = load_generator(
        golden.folder,
        width=loaded.model.node_embeds.shape[1],
        limits=limits,
        backbone=golden.backbone("tokenizer_path"),
    )
    ranker = KbrdRanker(loaded.model, space)
    voice = kbrd_generator(speech, ranker, "ievalm")
    heard = golden.heard(entities=limits.entities)
    compared.array("node_embeds_after_rgcn", loaded.model.nodes(space.edges).numpy())
    users = ranker.users(heard)
    for case, scores in enumerate(ranker.entity_scores(heard)):
        compared.array(f"c{case}_user_embeds", users[case].numpy())
        compared.scores(case, scores, space.items)
    _speech(compared, speech.generator.model, voice, heard, users)
    return compared


def barcor(golden: Golden) -> Compared:
    """Scores and the states behind them, teacher-forced scores, lists and texts."""
    limits = _limits(golden)
    space, compared = golden.space(), Compared(golden)
    loaded = barcor_checkpoint.load(
        golden.folder,
        entities=space.entities,
        backbone=golden.backbone("tokenizer_path"),
        limits=limits,
    )
    ranker = BarcorRanker(loaded.recommender, loaded.tokens, limits.context, space.items)
    voice = barcor_generator(loaded, "ievalm")
    heard = golden.heard(entities=0)
    for case, scores in enumerate(ranker.entity_scores(heard)):
        compared.scores(case, scores, space.items)
        ids = padded([voice.read(heard[case])])
        states = loaded.recommender.model.encoder(ids).last_hidden_state[0]
        compared.array(f"c{case}_enc_last_hidden", states.numpy())
        vector = loaded.recommender.vectors(ids)[0]
        compared.array(f"c{case}_sentence_repr", vector.numpy())
    _speech(compared, loaded.generator.model, voice, heard, None)
    return compared


def _speech(
    compared: Compared,
    model: BartLanguageModel,
    voice: BartGenerator,
    heard: Sequence[EncodedContext],
    users: Tensor | None,
) -> None:
    """The generator's states and scores for each case alone, and the texts of all together."""
    for case, each in enumerate(heard):
        ids = padded([voice.read(each)])
        if users is not None:
            compared.array(f"c{case}_enc_last_hidden", model.encode(ids)[0].numpy())
        said = torch.tensor([compared.golden.cases[case]["gen_ids"][:-1]])
        user = None if users is None else users[case : case + 1]
        forced = model(ids, said, user)[0]
        compared.array(f"c{case}_teacher_forced_logits", forced.numpy())
    for case, text in enumerate(voice.say(heard, [()] * len(heard))):
        compared.text(case, text)


def _limits(golden: Golden) -> Limits:
    args = golden.args
    return Limits(
        context=args["context_max_length"],
        entities=args.get("entity_max_length", 0),
        response=args["resp_max_length"],
    )
