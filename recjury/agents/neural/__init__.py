"""KBRD, BARCOR and UniCRS, and what an own neural system is built on. torch is imported late."""

from recjury.agents.neural.entities import EntityGraph, entity_graph
from recjury.agents.neural.said import ITEM, Said
from recjury.agents.neural.system import NeuralSystem

__all__ = ["ITEM", "EntityGraph", "NeuralSystem", "Said", "entity_graph"]
