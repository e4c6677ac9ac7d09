"""integrations: what other tools read and write. The core needs none of it, and each imports its tool when it is used.

reward                  an evaluator without a judge as a reward function for TRL and Tunix.
callback                a Hugging Face TrainerCallback that evaluates each checkpoint.
checkpoint_evaluation   the same for a loop of one's own.
scalar_log              scalars into TensorBoard's event files.
forges                  one comment on a pull or merge request, of GitHub or GitLab.
pytest_plugin           a test for each item that a run and its baseline share.
trackers                results sent to OpenTelemetry, Langfuse, MLflow and W&B.
"""
