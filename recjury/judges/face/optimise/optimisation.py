"""An optimisation from end to end: data, particles, search, and the files it leaves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from recjury.corpora.writing import check_writable, write_file
from recjury.errors import ConfigError
from recjury.judges.face.decomposer import Decomposer, LlmDecomposer
from recjury.judges.face.face_prompts import FacePrompts
from recjury.judges.face.instructions import Instruction, read_instructions, write_instructions
from recjury.judges.face.optimise.allowance import Allowance
from recjury.judges.face.optimise.aspect_scorer import AspectScorer, task_of
from recjury.judges.face.optimise.beam import Search, Step
from recjury.judges.face.optimise.call_estimate import CallEstimate, estimate_calls
from recjury.judges.face.optimise.candidates import new_candidate
from recjury.judges.face.optimise.labelled_particles import Correlate, LabelledExample
from recjury.judges.face.optimise.optimisation_report import OptimisationReport, build_report
from recjury.judges.face.optimise.rewrite import PACK, Rewriter
from recjury.judges.face.optimise.select import Chosen, choose
from recjury.judges.face.optimise.settings import OptimiserSettings
from recjury.judges.face.optimise.state import Journal, check_journal
from recjury.judges.face.optimise.training_data import LabelledLog, TrainingData, with_particles
from recjury.judges.face.rule_decomposer import RuleDecomposer
from recjury.judges.face.scorer import ParticleScorer, Target
from recjury.prompts import load_pack
from recjury.records import JSON, Aspect, digest
from recjury.stats.correlation import pearson, spearman

CORRELATIONS: Mapping[str, Correlate] = {"pearson": pearson, "spearman": spearman}

_JOURNAL, _REPORT, _POOL = "journal.jsonl", "report.json", "pool.json"

Watch = Callable[[Step], None]


@dataclass(frozen=True)
class Optimisation:
    """What one aspect's run needs.

    `model` and `rewriter` are aliases of the gateway behind `allowance`; `models` is what can
    change the replies of all its models. `decomposer` None asks `model` for particles.
    """

    aspect: Aspect
    training: TrainingData
    settings: OptimiserSettings
    allowance: Allowance
    model: str
    rewriter: str
    models: JSON
    folder: Path
    decomposer: Decomposer | None = None
    watch: Watch = lambda _: None

    def check(self) -> None:
        """Raise UserError, before any work is done, for what shows without a model call.

        That is a place that cannot be written, and a journal of a run with other settings.
        """
        self.check_places()
        prompts = FacePrompts()
        rewriter, initial = self._rewriter(prompts), prompts.initial(self.aspect)[0].text
        check_journal(self._own(_JOURNAL), self._settings(prompts, rewriter, initial))

    def check_places(self) -> None:
        """Raise DataError if a file of `folder` cannot be written."""
        places = [self._own(name) for name in (_JOURNAL, _REPORT, _POOL)]
        for place in (*places, self._chosen):
            check_writable(place)

    async def run(self) -> OptimisationReport:
        """Optimise, or go on with it, and write what came out; raises StepFailed and UserError.

        Leaves in `folder`: {aspect}/journal.jsonl, {aspect}/report.json, {aspect}/pool.json, and
        instructions/{aspect}.json, the final set in the released format.
        """
        prompts = FacePrompts()
        rewriter = self._rewriter(prompts)
        train, validation = await self._examples(prompts)
        initial = prompts.initial(self.aspect)[0].text
        journal = Journal(
            self._own(_JOURNAL),
            self._identity(prompts, rewriter, initial, train, validation),
        )
        search = Search(
            self.settings,
            self._scorer(prompts),
            rewriter,
            CORRELATIONS[self.settings.correlation],
            train,
            validation,
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

        Writes the final set to instructions/{aspect}.json, under the names it has in the pool.
        """
        prompts = FacePrompts()
        instructions = {one.name: one for one in read_instructions(pool)}
        self.allowance.begin_step()
        validation = await self._decomposed(prompts, self.training.validation)
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
            CORRELATIONS[self.settings.correlation],
            count=self.settings.final,
            done=another,
        )
        self.allowance.end_step("validating", self.settings.tolerated_failures)
        ranked = [
            instructions[name].model_copy(update={"rank": rank})
            for rank, name in enumerate(chosen.names, start=1)
        ]
        write_instructions(self._chosen, ranked)
        return chosen

    async def _examples(
        self, prompts: FacePrompts
    ) -> tuple[list[LabelledExample[Target]], list[LabelledExample[Target]]]:
        train = await self._decomposed(prompts, self.training.train)
        return train, await self._decomposed(prompts, self.training.validation)

    async def _decomposed(
        self, prompts: FacePrompts, side: tuple[LabelledLog, ...]
    ) -> list[LabelledExample[Target]]:
        decomposer = self.decomposer or LlmDecomposer(self.allowance, self.model, prompts)
        self.watch(Step(None, "decomposing", 0, len(side)))
        self.allowance.begin_step()
        found = await with_particles(side, decomposer)
        # All or nothing: what follows depends on which particles there are.
        self.allowance.end_step("decomposing", 0.0)
        if not any(example.particles for example in found):
            raise ConfigError(f"{decomposer.name} found no particle in {len(side)} samples")
        return found

    def _scorer(self, prompts: FacePrompts) -> AspectScorer:
        scorer = ParticleScorer(
            self.allowance, self.model, prompts, temperature=self.settings.temperature
        )
        return AspectScorer(scorer, self.aspect, load_pack(PACK))

    def _rewriter(self, prompts: FacePrompts) -> Rewriter:
        return Rewriter(
            self.allowance,
            self.rewriter,
            task_of(prompts, self.aspect),
            self.settings.gradients,
            self.settings.merged,
            self.settings.temperature,
        )

    def _identity(
        self,
        prompts: FacePrompts,
        rewriter: Rewriter,
        initial: str,
        train: list[LabelledExample[Target]],
        validation: list[LabelledExample[Target]],
    ) -> dict[str, JSON]:
        """Everything that can change the result; a journal belongs to one such identity."""
        sides = [
            [[one.name, one.label, [target.particle for target in one.particles]] for one in side]
            for side in (train, validation)
        ]
        return {**self._settings(prompts, rewriter, initial), "data": digest(sides)}

    def _settings(self, prompts: FacePrompts, rewriter: Rewriter, initial: str) -> dict[str, JSON]:
        """What is known of that before there are particles."""
        return {
            "aspect": str(self.aspect),
            "optimiser": self.settings.model_dump(mode="json"),
            "model": self.model,
            "models": self.models,
            "prompts": prompts.identity,
            "rewriter": rewriter.settings,
            "initial": initial,
        }

    @property
    def _chosen(self) -> Path:
        return self.folder / "instructions" / f"{self.aspect}.json"

    def _own(self, name: str) -> Path:
        return self.folder / str(self.aspect) / name

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
    training: TrainingData, settings: OptimiserSettings
) -> CallEstimate:
    """The most that a run asks if there are as many particles as the rule decomposer finds."""
    sides = [
        await with_particles(side, RuleDecomposer())
        for side in (training.train, training.validation)
    ]
    return estimate_calls(settings, *sides)
