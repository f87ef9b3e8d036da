"""UniCRS against its golden vectors."""

import torch

from benchmarks.golden.compared import Compared
from benchmarks.golden.files import Golden
from recjury.agents.neural.context import EncodedContext
from recjury.agents.neural.description import Limits
from recjury.agents.neural.tokens import ITEM
from recjury.agents.unicrs import checkpoint
from recjury.agents.unicrs.added_rows import AddedRows
from recjury.agents.unicrs.checkpoint import Published, UnicrsCheckpoint
from recjury.agents.unicrs.model import Batch
from recjury.agents.unicrs.recommender import UnicrsSpeaker


def unicrs(golden: Golden) -> Compared:
    """Entities, prompts, scores, teacher-forced scores, lists and texts."""
    loaded, compared = _load(golden), Compared(golden)
    space = golden.space(extra=1)
    speaker = UnicrsSpeaker(loaded.model, loaded.texts, space.edges, items=space.items)
    heard = golden.heard(entities=loaded.texts.limits.entities)
    nodes = loaded.model.rec.nodes(space.edges)
    replying = loaded.model.conv.nodes(space.edges)
    compared.array("rec_entity_embeds", nodes.numpy())
    for case, scores in enumerate(speaker.entity_scores(heard)):
        compared.scores(case, scores, space.items)
        _recommending(compared, case, loaded, heard[case], nodes)
        _speaking(compared, case, loaded, heard[case], replying)
    for case, text in enumerate(speaker.say(heard, [()] * len(heard))):
        compared.text(case, text)
    return compared


def _load(golden: Golden) -> UnicrsCheckpoint:
    arrays, args = golden.arrays, golden.args
    rows = None
    if "gpt2_wte_new_rows" in arrays and "roberta_new_rows" in arrays:
        rows = AddedRows(
            torch.from_numpy(arrays["gpt2_wte_new_rows"]),
            torch.from_numpy(arrays["roberta_new_rows"]),
        )
    # RoBERTa knows `<mask>` already, so a row was added only where items have their own token.
    own = golden.dataset.startswith("redial") or (rows is not None and len(rows.text) > 0)
    limits = Limits(
        context=args["context_max_length"],
        entities=args["entity_max_length"],
        response=args["resp_max_length"],
    )
    return checkpoint.load(
        golden.folder,
        entities=len(golden.entities),
        relations=golden.relations,
        corpus=golden.dataset,
        fidelity="ievalm",
        named={"gpt2": golden.backbone("model"), "roberta": golden.backbone("text_encoder")},
        published=Published(limits, ITEM if own else "<mask>"),
        rows=rows,
    )


def _recommending(
    compared: Compared,
    case: int,
    loaded: UnicrsCheckpoint,
    heard: EncodedContext,
    nodes: torch.Tensor,
) -> None:
    """RoBERTa's states and the prompts of one case."""
    model, texts = loaded.model, loaded.texts
    batch = texts.batch(
        [texts.ids(heard.context.utterances)],
        [heard.context],
        padding=model.padding,
        fidelity="ievalm",
        speaking=False,
    )
    compared.array(f"c{case}_prompt_token_embeds", model.read(batch.words)[0].numpy())
    layers = model.item_prompts(nodes, batch).layers
    stacked = torch.stack([torch.stack([keys[0], values[0]]) for keys, values in layers])
    compared.array(f"c{case}_rec_prompt_embeds", stacked.numpy())


def _speaking(
    compared: Compared,
    case: int,
    loaded: UnicrsCheckpoint,
    heard: EncodedContext,
    nodes: torch.Tensor,
) -> None:
    """The prompts of one case, and the scores of the tokens that the reference said."""
    model, texts = loaded.model, loaded.texts
    row = texts.prompted(heard.context.utterances)
    before = texts.filled(row)
    said = compared.golden.cases[case]["gen_ids"][len(before) : -1]
    batch = texts.batch(
        [row], [heard.context], padding=model.padding, fidelity="ievalm", speaking=True
    )
    prompted = model.reply_prompts(nodes, batch)
    compared.array(f"c{case}_conv_prompt_embeds_layer0_key", prompted.layers[0][0][0].numpy())
    compared.array(f"c{case}_conv_prompt_embeds_last_value", prompted.layers[-1][1][0].numpy())
    ids = torch.tensor([[*before, *said]])
    real = torch.arange(ids.shape[1]) >= len(before) - len(row)
    whole = Batch(ids, real[None], torch.arange(ids.shape[1])[None], *batch[3:])
    states = model.run(prompted, whole)[0, len(before) - 1 :]
    compared.array(f"c{case}_teacher_forced_logits", model.token_scores(states).numpy())
