#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --cpus-per-task={cores}
#SBATCH --requeue
#SBATCH --open-mode=append

# {summary}; written by trackbed {version}.
# Each task runs a shard. A task that is requeued, or submitted again with --array=NUMBER,
# continues where it stopped. When all have finished:
#   {merge}
# or, to do that automatically:
#   sbatch --dependency=afterany:$(sbatch --parsable THIS_FILE) --wrap {wrap}
set -euo pipefail
