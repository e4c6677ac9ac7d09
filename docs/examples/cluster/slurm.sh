#!/usr/bin/env bash
# A run in shards as a Slurm array: each task asks one shard, and one that is requeued goes on where it ended.
#
#   PLAN=benchbook.toml RUN_ID=july sbatch --array=1-8 slurm.sh
#   sbatch --dependency=afterok:JOB --wrap "benchbook join runs/july"
#
# To ask some shards again, say how many there are: SHARDS=8 PLAN=… RUN_ID=july sbatch --array=3,5 slurm.sh
#SBATCH --job-name=benchbook
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
set -euo pipefail
: "${PLAN:?the config of the run}" "${RUN_ID:?the name of the run, the same for every shard}"
exec benchbook run "$PLAN" --run-id "$RUN_ID" --runs "${RUNS:-runs}" \
    --shard "$SLURM_ARRAY_TASK_ID/${SHARDS:-$SLURM_ARRAY_TASK_MAX}" ${AT_ONCE:+--at-once "$AT_ONCE"}
