"""A run of HELM by its own runner and scripted model: the folder that it wrote; null where HELM is not here."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

if importlib.util.find_spec("helm") is None:
    print("null")  # noqa: T201
    sys.exit()

from helm.benchmark.scenarios.scenario import CORRECT_TAG, Input, Instance, Output, Reference, Scenario


class MadeScenario(Scenario):
    """Four questions, whose last word is what the scripted model answers; one has no letters to perturb."""

    name, description, tags = "made", "made", []

    def get_instances(self, output_path: str) -> list[Instance]:
        del output_path
        wrong = Reference(Output("wrong"), [])
        found = [
            Instance(Input(f"Train {n} Here"), [Reference(Output("t"), [CORRECT_TAG]), wrong], split="train")
            for n in range(2)
        ]
        for n, text in enumerate(("Question 0 Ends Here", "Question 1 Ends Here", "12 34", "Question 3 Ends Here")):
            right = Reference(Output("Here" if n % 2 else "here"), [CORRECT_TAG])
            found.append(Instance(Input(text), [right, wrong], split="test", sub_split="odd" if n % 2 else None))
        return found


def run(folder: str, method: str, trials: str) -> str:
    from helm.benchmark.adaptation.adapter_spec import AdapterSpec
    from helm.benchmark.augmentations.data_augmenter import DataAugmenterSpec
    from helm.benchmark.augmentations.perturbation import PerturbationSpec
    from helm.benchmark.config_registry import register_builtin_configs_from_helm_package
    from helm.benchmark.executor import ExecutionSpec
    from helm.benchmark.metrics.metric import MetricSpec
    from helm.benchmark.run_spec import RunSpec
    from helm.benchmark.runner import Runner
    from helm.benchmark.scenarios.scenario import ScenarioSpec
    from helm.common.authentication import Authentication

    register_builtin_configs_from_helm_package()
    basic, perturbations = "helm.benchmark.metrics.basic_metrics", "helm.benchmark.augmentations"
    spec: dict[str, Any] = {"input_prefix": "", "input_suffix": "", "output_prefix": "", "output_suffix": ""}
    run_spec = RunSpec(
        name=f"made:method={method},model=simple_model1",
        scenario_spec=ScenarioSpec("helm_run.MadeScenario", {}),
        adapter_spec=AdapterSpec(
            method=method, model="simple/model1", model_deployment="simple/model1", max_train_instances=1,
            max_eval_instances=10, num_train_trials=int(trials), num_outputs=1, temperature=0.0, max_tokens=5,
            reference_prefix="A. ", **spec,
        ),
        metric_specs=[
            MetricSpec(f"{basic}.BasicGenerationMetric", {"names": ["exact_match"]}),
            MetricSpec(f"{basic}.BasicReferenceMetric", {}),
            MetricSpec(f"{basic}.InstancesPerSplitMetric", {}),
        ],
        data_augmenter_spec=DataAugmenterSpec(
            perturbation_specs=[
                PerturbationSpec(f"{perturbations}.lowercase_perturbation.LowerCasePerturbation", {}),
                PerturbationSpec(f"{perturbations}.typos_perturbation.TyposPerturbation", {"prob": 0.5}),
            ],
            should_augment_eval_instances=method == "generation",
            should_include_original_eval=True,
            should_skip_unchanged_eval=True,
        ),
        groups=[],
    )  # fmt: skip
    Path(folder, "prod_env").mkdir()
    executing = ExecutionSpec(
        auth=Authentication(""), url=None, local_path=f"{folder}/prod_env", parallelism=1, dry_run=False,
        sqlite_cache_backend_config=None, mongo_cache_backend_config=None,
    )  # fmt: skip
    runner = Runner(
        executing, output_path=folder, suite="s", skip_instances=False, cache_instances=False,
        cache_instances_only=False, skip_completed_runs=False, exit_on_error=True,
    )  # fmt: skip
    runner.run_all([run_spec])
    return f"{folder}/runs/s/{run_spec.name}"


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        place = run(*sys.argv[1:])
    print(json.dumps(place))  # noqa: T201
