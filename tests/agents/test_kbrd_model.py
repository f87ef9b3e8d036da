"""KBRD's maths: against numbers worked out by hand, and against the reference implementation."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from recjury.agents.kbrd import checkpoint
from recjury.agents.kbrd.edges import neighbourhoods
from recjury.agents.kbrd.model import EntityAttention, KbrdModel, RelationalConvolution
from recjury.knowledge import Edge, KnowledgeGraph, Triple


def tiny_graph() -> KnowledgeGraph:
    """0 -r0-> 1, 0 -r0-> 2 (twice), 2 -r1-> 2; 3 has no neighbour."""
    triples = [Triple(0, 0, 1), Triple(0, 0, 2), Triple(0, 0, 2), Triple(2, 1, 2)]
    return KnowledgeGraph(
        entities=["a", "b", "c", "d"],
        relations=["r0", "r1"],
        triples=triples,
        item_ids={0: "a"},
        item_entities=[0],
    )


def test_the_convolution_equals_a_worked_example() -> None:
    layer = RelationalConvolution(dim=2, relations=2, bases=2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]]))
        layer.comp.copy_(torch.tensor([[1.0, 0.0], [2.0, 1.0]]))
        layer.root.copy_(torch.tensor([[10.0, 0.0], [0.0, 100.0]]))
        layer.bias.copy_(torch.tensor([0.5, -0.5]))
        features = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
        out = layer(features, neighbourhoods(tiny_graph().edges, 4, 2))
    # W_r0 is the identity; W_r1 = [[2, 1], [0, 2]].
    expected = [
        [10 + (3 + 5) / 2 + 0.5, 200 + (4 + 6) / 2 - 0.5],  # means over b and c
        [30 + 1 + 0.5, 400 + 2 - 0.5],  # receives from a
        [50 + 1 + 10 + 0.5, 600 + 2 + (5 + 12) - 0.5],  # from a, and from itself by r1
        [70 + 0.5, 800 - 0.5],  # from nobody
    ]
    assert out.tolist() == [pytest.approx(row) for row in expected]


def test_the_order_of_edges_does_not_matter() -> None:
    edges = [Edge(0, 1, 0), Edge(2, 1, 0), Edge(1, 0, 1), Edge(0, 2, 1)]
    one, other = neighbourhoods(edges, 3, 2), neighbourhoods(edges[::-1], 3, 2)
    assert one.sources.tolist() == other.sources.tolist() == [0, 2, 1, 0]
    assert one.starts.tolist() == other.starts.tolist()
    assert one.per_relation == other.per_relation == (1, 2)


def test_attention_weighs_known_entities_only_and_by_their_scores() -> None:
    attention = EntityAttention(dim=2)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.zero_()
        entities = torch.tensor([[[2.0, 0.0], [4.0, 2.0], [99.0, 99.0]]])
        known = torch.tensor([[True, True, False]])
        assert attention(entities, known).tolist() == [[3.0, 1.0]]  # equal scores: the mean
        state = attention.state_dict()
        state["attn.0.weight"].copy_(torch.eye(2))
        state["attn.2.weight"].copy_(torch.tensor([[0.0, 50.0]]))
        assert attention(entities, known)[0].tolist() == pytest.approx([4.0, 2.0], abs=1e-4)
        assert attention(entities, ~known & False).tolist() == [[0.0, 0.0]]


def test_scores_do_not_depend_on_who_shares_the_batch() -> None:
    torch.manual_seed(0)
    graph = tiny_graph()
    model = KbrdModel(4, 2, dim=8, bases=2)
    with torch.no_grad():
        nodes = model.nodes(neighbourhoods(graph.edges, 4, 2))
        together = model.scores(nodes, [[0], [1, 2, 3, 3], []])
        alone = [model.scores(nodes, [user])[0] for user in ([0], [1, 2, 3, 3], [])]
    assert torch.allclose(together, torch.stack(alone), atol=1e-6)
    assert not together[2].any()


def test_summing_counts_a_repeated_entity_twice() -> None:
    torch.manual_seed(0)
    model = KbrdModel(4, 2, dim=8, bases=2, fidelity="ievalm")
    with torch.no_grad():
        nodes = model.nodes(neighbourhoods(tiny_graph().edges, 4, 2))
        once, twice = model.scores(nodes, [[1], [1, 1]])
    assert torch.allclose(twice, 2 * once)


def test_it_equals_the_reference_implementation(data_folder: Path) -> None:
    golden = data_folder / "crs-golden"
    if not golden.is_dir():
        pytest.skip("needs crs-golden/ in the data folder")
    expected = np.load(golden / "kbrd" / "opendialkg" / "outputs.npz")
    cases = json.loads((golden / "kbrd" / "opendialkg" / "outputs.json").read_text())
    triples = json.loads((golden / "common" / "opendialkg" / "kg.json").read_text())
    nodes, relations = cases["num_entities"], cases["num_relations"]
    graph = KnowledgeGraph(
        entities=[str(number) for number in range(nodes)],
        relations=[str(number) for number in range(relations)],
        triples=[Triple(int(h), r, t) for h, found in triples.items() for r, t in found],
        item_ids={},
        item_entities=[],
    )
    edges = neighbourhoods(graph.edges, nodes, relations)
    loaded = checkpoint.load(golden / "kbrd" / "opendialkg", entities=nodes, relations=relations)
    assert loaded.metadata is None
    assert loaded.model.fidelity == "ievalm"
    with torch.no_grad():
        encoded = loaded.model.nodes(edges)
        assert len(edges.sources) == expected["edge_type_sorted"].size
        assert np.abs(encoded.numpy() - expected["node_embeds_after_rgcn"]).max() < 1e-4
        for number, case in enumerate(cases["cases"]):
            user = [entity for entity in case["entity_ids"] if entity != nodes]
            scores = loaded.model.scores(encoded, [user])[0].numpy()
            assert np.abs(scores - expected[f"c{number}_rec_logits_all"]).max() < 1e-4
