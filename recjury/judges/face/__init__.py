"""FACE: particles, instructions, and scores that can be explained (FACE, section 2)."""

from recjury.judges.aspects import pool, pool_places
from recjury.judges.face.decomposer import Decomposer, GivenDecomposer, LlmDecomposer
from recjury.judges.face.evaluator import FaceEvaluator, targets
from recjury.judges.face.face_prompts import AspectGuide, FacePrompts
from recjury.judges.face.instructions import Instruction, Instructions, read_instruction_folder
from recjury.judges.face.scorer import ParticleScorer, Target

__all__ = [
    "AspectGuide",
    "Decomposer",
    "FaceEvaluator",
    "FacePrompts",
    "GivenDecomposer",
    "Instruction",
    "Instructions",
    "LlmDecomposer",
    "ParticleScorer",
    "Target",
    "pool",
    "pool_places",
    "read_instruction_folder",
    "targets",
]
