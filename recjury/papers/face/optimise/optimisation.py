"""A complete optimisation: data, particles, FACE's scorer of one aspect, search, and its files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson

from recjury.corpora.writing import check_writable, write_file
from recjury.errors import ConfigError
from recjury.judges.face.decomposer import Decomposer, LlmDecomposer
from recjury.judges.face.face_prompts import FacePrompts
from recjury.judges.face.instructions import Instruction, read_instructions, write_instructions
from recjury.judges.face.rule_decomposer import RuleDecomposer
from recjury.judges.face.scorer import ParticleScorer, Target
from recjury.papers.face.optimise.allowance import Allowance
from recjury.papers.face.optimise.beam import Search, Step
from recjury.papers.face.optimise.call_estimate import CallEstimate, estimate_calls
from recjury.papers.face.optimise.candidates import new_candidate
from recjury.papers.face.optimise.gradient import Task
from recjury.papers.face.optimise.labelled_particles import Examples, LabelledExample
from recjury.papers.face.optimise.optimisation_report import OptimisationReport, build_report
from recjury.papers.face.optimise.rewrite import PACK, Rewriter
from recjury.papers.face.optimise.select import Chosen, choose
from recjury.papers.face.optimise.settings import OptimiserSettings
from recjury.papers.face.optimise.state import Journal, check_journal
from recjury.papers.face.optimise.training_data import LabelledLog, TrainingData, with_particles
from recjury.prompts import Pack, fence, load_pack
from recjury.records import JSON, Aspect, digest


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


_JOURNAL, _REPORT, _POOL = "journal.jsonl", "report.json", "pool.json"

Watch = Callable[[Step], None]


@dataclass(frozen=True)
class OptimisePlan:
    """What is optimised, on what, with which models (aliases of the campaign file), and where to.

    `rules` makes particles without a model. `max_calls` limits what one run sends.
    """

    aspect: Aspect
    training: TrainingData
    settings: OptimiserSettings
    model: str
    rewriter: str
    folder: Path
    rules: bool = False
    max_calls: int | None = None


@dataclass(frozen=True)
class Optimisation:
    """A plan that can be run: `allowance` leads to its models.

    `models` has the settings of these models that can change a reply, by alias.
    """

    plan: OptimisePlan
    allowance: Allowance
    models: JSON
    watch: Watch = lambda _: None

    def check(self) -> None:
        """Raise UserError for errors that can be found without a model call.

        These are a folder that cannot be written, and a journal of a run with other settings.
        """
        self.check_places()
        prompts = FacePrompts()
        rewriter, initial = self._rewriter(prompts), prompts.initial(self.plan.aspect)[0].text
        check_journal(self._own(_JOURNAL), self._settings(prompts, rewriter, initial))

    def check_places(self) -> None:
        """Raise DataError if a file of `folder` cannot be written."""
        places = [self._own(name) for name in (_JOURNAL, _REPORT, _POOL)]
        for place in (*places, self._chosen):
            check_writable(place)

    async def run(self) -> OptimisationReport:
        """Optimise, or continue an optimisation, and write the result. Raises StepFailed and
        UserError.

        Writes into `folder`: {aspect}/journal.jsonl, {aspect}/report.json, {aspect}/pool.json, and
        instructions/{aspect}.json, the final set in the released format.
        """
        prompts = FacePrompts()
        rewriter = self._rewriter(prompts)
        examples = Examples(
            await self._decomposed(prompts, self.plan.training.train),
            await self._decomposed(prompts, self.plan.training.validation),
        )
        initial = prompts.initial(self.plan.aspect)[0].text
        journal = Journal(
            self._own(_JOURNAL),
            self._identity(prompts, rewriter, initial, examples),
        )
        search = Search(
            self.plan.settings,
            self._scorer(prompts),
            rewriter,
            examples,
            initial,
            journal,
            self.allowance,
            watch=self.watch,
        )
        await search.run()
        found = build_report(journal, new_candidate(initial, 0))
        self._write(found)
        return found

    async def reselect(self, pool: Path) -> Chosen:
        """FACE*: choose again from an existing pool, for this model; raises as `run`.

        Writes the final set to instructions/{aspect}.json, with the names of the pool.
        """
        prompts = FacePrompts()
        instructions = {one.name: one for one in read_instructions(pool)}
        self.allowance.begin_step()
        validation = await self._decomposed(prompts, self.plan.training.validation)
        done = 0

        def another() -> None:
            nonlocal done
            done += 1
            self.watch(Step(None, "validating", done, len(instructions)))

        self.allowance.begin_step()
        chosen = await choose(
            {name: one.text for name, one in instructions.items()},
            validation,
            self._scorer(prompts),
            self.plan.settings.correlate,
            count=self.plan.settings.final,
            done=another,
        )
        self.allowance.end_step("validating", self.plan.settings.tolerated_failures)
        ranked = [
            instructions[name].model_copy(update={"rank": rank})
            for rank, name in enumerate(chosen.names, start=1)
        ]
        write_instructions(self._chosen, ranked)
        return chosen

    async def _decomposed(
        self, prompts: FacePrompts, side: tuple[LabelledLog, ...]
    ) -> list[LabelledExample[Target]]:
        decomposer: Decomposer = (
            RuleDecomposer()
            if self.plan.rules
            else LlmDecomposer(self.allowance, self.plan.model, prompts)
        )
        self.watch(Step(None, "decomposing", 0, len(side)))
        self.allowance.begin_step()
        found = await with_particles(side, decomposer)
        # All must succeed: all later steps depend on the particles.
        self.allowance.end_step("decomposing", 0.0)
        if not any(example.particles for example in found):
            raise ConfigError(f"{decomposer.name} found no particle in {len(side)} samples")
        return found

    def _scorer(self, prompts: FacePrompts) -> AspectScorer:
        scorer = ParticleScorer(
            self.allowance, self.plan.model, prompts, temperature=self.plan.settings.temperature
        )
        return AspectScorer(scorer, self.plan.aspect, load_pack(PACK))

    def _rewriter(self, prompts: FacePrompts) -> Rewriter:
        return Rewriter(
            self.allowance,
            self.plan.rewriter,
            task_of(prompts, self.plan.aspect),
            self.plan.settings.gradients,
            self.plan.settings.merged,
            self.plan.settings.temperature,
        )

    def _identity(
        self,
        prompts: FacePrompts,
        rewriter: Rewriter,
        initial: str,
        examples: Examples[Target],
    ) -> dict[str, JSON]:
        """Everything that can change the result; a journal belongs to one such identity."""
        sides = [
            [[one.name, one.label, [target.particle for target in one.particles]] for one in side]
            for side in examples
        ]
        return {**self._settings(prompts, rewriter, initial), "data": digest(sides)}

    def _settings(self, prompts: FacePrompts, rewriter: Rewriter, initial: str) -> dict[str, JSON]:
        """The part of the identity that is known before there are particles."""
        return {
            "aspect": str(self.plan.aspect),
            "optimiser": self.plan.settings.model_dump(mode="json"),
            "model": self.plan.model,
            "models": self.models,
            "prompts": prompts.identity,
            "rewriter": rewriter.settings,
            "initial": initial,
        }

    @property
    def _chosen(self) -> Path:
        return self.plan.folder / "instructions" / f"{self.plan.aspect}.json"

    def _own(self, name: str) -> Path:
        return self.plan.folder / str(self.plan.aspect) / name

    def _write(self, found: OptimisationReport) -> None:
        pool = [
            Instruction(
                text=line.text,
                iteration=line.index or 0,
                index=line.index or 0,
                rank=line.rank or len(found.pool),
                filename=f"{line.id}.txt",
            )
            for line in found.pool
        ]
        write_instructions(self._own(_POOL), pool)
        write_instructions(self._chosen, found.released_form())
        content = found.model_dump(mode="json")
        write_file(self._own(_REPORT), [orjson.dumps(content, option=orjson.OPT_INDENT_2)])


async def estimate_optimisation(
    training: TrainingData, settings: OptimiserSettings, *, pool: int | None = None
) -> CallEstimate:
    """The largest number of calls, with as many particles as the rule decomposer finds.

    FACE* only scores the validation side under each of the instructions of a `pool`.
    """
    sides = [
        await with_particles(side, RuleDecomposer())
        for side in (training.train, training.validation)
    ]
    if pool is not None:
        scored = pool * sum(len(one.particles) for one in sides[1])
        return CallEstimate(0, 0, 0, scored, 0, 0)
    return estimate_calls(settings, *sides)
