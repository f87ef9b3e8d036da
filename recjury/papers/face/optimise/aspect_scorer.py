"""FACE's scorer as the optimiser uses it: one aspect, and one instruction's text at a time."""

from dataclasses import dataclass

from recjury.judges.face.face_prompts import FacePrompts
from recjury.judges.face.scorer import ParticleScorer, Target
from recjury.papers.face.optimise.gradient import Task
from recjury.prompts import Pack, fence
from recjury.records import Aspect


@dataclass(frozen=True)
class AspectScorer:
    """Implements `labelled_particles.SupportsScore` for particles of conversation logs."""

    scorer: ParticleScorer
    aspect: Aspect
    pack: Pack

    async def score(self, instruction: str, particle: Target) -> float | None:
        """The mean of the samples that could be parsed; None if there are none. Raises
        CallFailed."""
        found = await self.scorer.one(self.aspect, particle, instruction, name="optimise")
        return found.score

    def describe(self, particle: Target) -> str:
        """The particle with its conversation, turn and answer, fenced."""
        feedback = particle.particle.feedback
        return "".join(
            self.pack.render(
                "particle",
                **particle.situation._asdict(),
                act=str(particle.particle.act),
                words=fence(particle.particle.mention),
                feedback=None if feedback is None else fence(feedback),
            )
        )


def task_of(prompts: FacePrompts, aspect: Aspect) -> Task:
    """What the rater is told about the aspect, besides its instructions."""
    guide = prompts.guides[aspect]
    anchors = "\n".join(f"{score}: {meaning}" for score, meaning in guide.anchors.items())
    return Task(aspect, f"{guide.question}\n{anchors}")
