"""A complete optimisation: data, particles, FACE's scorer of one aspect, search, and its files.

It is a campaign of its own, without conversations: its calls belong to the campaign itself, whose
budget limits the total cost of all its runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson

from recjury.campaign.config import EvaluationConfig
from recjury.campaign.model_work import ModelWork, models_asked
from recjury.corpora.writing import check_writable, write_file
from recjury.errors import ConfigError
from recjury.judges.face.decomposer import Decomposer, LlmDecomposer
from recjury.judges.face.face_prompts import FacePrompts
from recjury.judges.face.instructions import (
    Instruction,
    identity,
    read_instructions,
    write_instructions,
)
from recjury.judges.face.rule_decomposer import RuleDecomposer
from recjury.judges.face.scorer import ParticleScorer, Target
from recjury.llm import Gateway
from recjury.papers.face.optimise.allowance import Allowance
from recjury.papers.face.optimise.examples import Examples, LabelledExample
from recjury.papers.face.optimise.gradient import Task
from recjury.papers.face.optimise.measuring import Chosen, choose
from recjury.papers.face.optimise.optimisation_report import OptimisationReport, build_report
from recjury.papers.face.optimise.rewrite import PACK, Rewriter
from recjury.papers.face.optimise.search import Search, Step
from recjury.papers.face.optimise.settings import OptimiserSettings
from recjury.papers.face.optimise.training_data import LabelledLog, TrainingData, with_particles
from recjury.prompts import Pack, fence, load_pack
from recjury.records import JSON, Aspect, digest

_REPORT, _POOL = "report.json", "pool.json"
_KEY = "optimisation"  # of what is optimised, in the stored settings


@dataclass(frozen=True)
class AspectScorer:
    """Implements `examples.SupportsScore` for particles of conversation logs."""

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


@dataclass(frozen=True)
class Optimisation:
    """What is optimised, on what, with which models (aliases of `config`), and where to.

    `rules` makes particles without a model. `max_calls` limits what one run sends.
    """

    aspect: Aspect
    training: TrainingData
    settings: OptimiserSettings
    config: EvaluationConfig
    model: str
    rewriter: str
    folder: Path
    rules: bool = False
    max_calls: int | None = None
    watch: Callable[[Step], None] = lambda _: None

    @property
    def work(self) -> ModelWork[OptimisationReport]:
        """To optimise, or to go on. Raises StepFailed if a step fails.

        Writes into `folder`: {aspect}/report.json, {aspect}/pool.json, and
        instructions/{aspect}.json, the final set in the released format.
        """
        name = f"face optimise {self.aspect}"
        return ModelWork(name, self._what(), self._optimise, self._check, key=_KEY)

    def choice(self, pool: Path) -> ModelWork[Chosen]:
        """FACE*: to choose again from the instructions in the file `pool`, for this model.

        Writes the final set to instructions/{aspect}.json, with the names of the pool.
        """
        instructions = read_instructions(pool)
        return ModelWork(
            f"face choose {self.aspect}",
            self._what(),
            lambda gateway: self._choose(gateway, instructions),
            self._check,
            given=[identity(instructions)],
            key=_KEY,
        )

    def _what(self) -> dict[str, JSON]:
        """Everything that can change the prompts that are sent."""
        roles = (self.model, self.rewriter)
        models = models_asked(self.config, roles)
        sides = [
            [[one.name, one.label, one.log.id] for one in side]
            for side in (self.training.train, self.training.validation)
        ]
        pack = load_pack(PACK)
        return {
            "aspect": str(self.aspect),
            "optimiser": self.settings.model_dump(mode="json"),
            "roles": list(roles),
            "models": {name: models[name] for name in roles},
            "decomposer": dict(RuleDecomposer().settings) if self.rules else None,
            "prompts": [FacePrompts().identity, f"{pack.id}/{pack.version}+{pack.digest}"],
            "data": digest(sides),
        }

    def _check(self, _gateway: Gateway) -> None:
        """Raise DataError if a file of `folder` cannot be written."""
        for place in (self._own(_REPORT), self._own(_POOL), self._chosen):
            check_writable(place)

    async def _optimise(self, gateway: Gateway) -> OptimisationReport:
        prompts, allowance = FacePrompts(), Allowance(gateway, max_calls=self.max_calls)
        sides = (self.training.train, self.training.validation)
        examples = Examples(*[await self._decomposed(allowance, prompts, side) for side in sides])
        rewriter = Rewriter(
            allowance,
            self.rewriter,
            task_of(prompts, self.aspect),
            self.settings.gradients,
            self.settings.merged,
            self.settings.temperature,
        )
        search = Search(
            self.settings,
            self._scorer(allowance, prompts),
            rewriter,
            examples,
            prompts.initial(self.aspect)[0].text,
            allowance,
            self.watch,
        )
        report = build_report(search, await search.run(), self._identity(prompts, search))
        self._write(report)
        return report

    async def _choose(self, gateway: Gateway, instructions: tuple[Instruction, ...]) -> Chosen:
        prompts, allowance = FacePrompts(), Allowance(gateway, max_calls=self.max_calls)
        by_name = {one.name: one for one in instructions}
        validation = await self._decomposed(allowance, prompts, self.training.validation)
        allowance.begin_step()
        chosen = await choose(
            {name: one.text for name, one in by_name.items()},
            validation,
            self._scorer(allowance, prompts),
            self.settings.correlate,
            count=self.settings.final,
            done=lambda done: self.watch(Step(None, "validating", done, len(by_name))),
        )
        allowance.end_step("validating", self.settings.tolerated_failures)
        ranked = [
            by_name[name].model_copy(update={"rank": rank})
            for rank, name in enumerate(chosen.names, start=1)
        ]
        write_instructions(self._chosen, ranked)
        return chosen

    async def _decomposed(
        self, allowance: Allowance, prompts: FacePrompts, side: tuple[LabelledLog, ...]
    ) -> list[LabelledExample]:
        decomposer: Decomposer = RuleDecomposer()
        if not self.rules:
            decomposer = LlmDecomposer(allowance, self.model, prompts)
        self.watch(Step(None, "decomposing", 0, len(side)))
        allowance.begin_step()
        found = await with_particles(side, decomposer)
        # All must succeed: all later steps depend on the particles.
        allowance.end_step("decomposing", 0.0)
        if not any(example.particles for example in found):
            raise ConfigError(f"{decomposer.name} found no particle in {len(side)} samples")
        return found

    def _scorer(self, allowance: Allowance, prompts: FacePrompts) -> AspectScorer:
        scorer = ParticleScorer(
            allowance, self.model, prompts, temperature=self.settings.temperature
        )
        return AspectScorer(scorer, self.aspect, load_pack(PACK))

    def _identity(self, prompts: FacePrompts, search: Search) -> dict[str, JSON]:
        """Everything that can change the result, for the report."""
        sides = [
            [[one.name, one.label, [target.particle for target in one.particles]] for one in side]
            for side in search.examples
        ]
        return {
            "aspect": str(self.aspect),
            "optimiser": self.settings.model_dump(mode="json"),
            "model": self.model,
            "models": models_asked(self.config, (self.model, self.rewriter)),
            "prompts": prompts.identity,
            "rewriter": search.rewriter.settings,
            "initial": search.initial,
            "data": digest(sides),
        }

    @property
    def _chosen(self) -> Path:
        return self.folder / "instructions" / f"{self.aspect}.json"

    def _own(self, name: str) -> Path:
        return self.folder / str(self.aspect) / name

    def _write(self, found: OptimisationReport) -> None:
        last = len(found.pool)
        pool = [line.released(f"{line.id}.txt", line.rank or last) for line in found.pool]
        chosen = [
            line.released(f"{rank:02}_itr{line.index}.txt", rank)
            for rank, line in enumerate(found.chosen, start=1)
        ]
        write_instructions(self._own(_POOL), pool)
        write_instructions(self._chosen, chosen)
        content = found.model_dump(mode="json")
        write_file(self._own(_REPORT), [orjson.dumps(content, option=orjson.OPT_INDENT_2)])
