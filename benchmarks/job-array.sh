#!/bin/sh
# Writes one part of a trace set, as one job of an array, and goes on with what an earlier
# attempt has written.
#
#     job-array.sh COMMAND...
#
# COMMAND is `stg-compile ... -o DIR` or `stg-translate --unbundle ... --trace-dir=DIR`. All
# jobs have the same one, and a file system on which they see the same directory:
#
#     sbatch --array=1-16 --requeue job-array.sh COMMAND...                     Slurm
#     srun -n 16 job-array.sh COMMAND...                                        Slurm, one job
#     mpirun -n 16 job-array.sh COMMAND...                                      Open MPI, MPICH
#     seq 16 | parallel --retries 3 PART={} PARTS=16 job-array.sh COMMAND...    GNU parallel

if [ -n "$PART" ]; then
  part=$PART parts=$PARTS
elif [ -n "$SLURM_ARRAY_TASK_ID" ]; then
  part=$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN + 1)) parts=$SLURM_ARRAY_TASK_COUNT
elif [ -n "$OMPI_COMM_WORLD_RANK" ]; then
  part=$((OMPI_COMM_WORLD_RANK + 1)) parts=$OMPI_COMM_WORLD_SIZE
elif [ -n "$PMI_RANK" ]; then
  part=$((PMI_RANK + 1)) parts=$PMI_SIZE
elif [ -n "$SLURM_PROCID" ]; then
  part=$((SLURM_PROCID + 1)) parts=$SLURM_NTASKS
else
  echo "job-array.sh: no Slurm array, no MPI; give PART and PARTS" >&2
  exit 2
fi
exec "$@" --quiet --resume --part="$part/$parts"
