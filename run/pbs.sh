#!/bin/bash
# A run as a PBS job that resumes by itself until it is finished:
#   qsub -v CONFIG=config/deformation.ini[,OVERRIDES='time.steps=100 ...'] [qsub options] run/pbs.sh
# Submit from the project's root. Before the time limit the run writes a checkpoint and leaves with exit code 75; a job
# with the same resources is then submitted and resumes from there. Any other exit code ends it, and qdel does.
# restart.from and output.wall_limit are given here, so not among the overrides: a key that comes twice is refused.
# Written after OpenPBS's manual and source; never run under a PBS: checked by shellcheck, and with stand-ins for qstat,
# qsub and mpirun. Nodes that compute must be allowed to submit; where they are not, submit again by hand.
#PBS -N fdapp
#PBS -S /bin/bash
#PBS -l select=1:ncpus=32:mpiprocs=4:ompthreads=8:ngpus=4
#PBS -l walltime=04:00:00
#PBS -j oe
#
# Without GPUs leave out ngpus. Environment: FDAPP (the program, default build/fdapp), LAUNCHER (default "mpirun" with a
# rank for each of the nodes' mpiprocs, bound to ompthreads cores).
set -u
exec </dev/null # ranks must not read it: a `while read` around this script would lose its lines
if [ -z "${PBS_JOBID:-}" ]; then # not in a job
  case ${1:-} in
  -h | --help) sed -n '2,/^[^#]/{/^#PBS/d;s/^# \?//p}' "$0"; exit 0 ;;
  *) echo "run/pbs.sh is for a job, submit it: qsub -v CONFIG=config/deformation.ini run/pbs.sh" >&2; exit 2 ;;
  esac
fi
[ -n "${CONFIG:-}" ] || { echo "run/pbs.sh: no configuration: qsub -v CONFIG=config/deformation.ini run/pbs.sh" >&2; exit 2; }
cd "$PBS_O_WORKDIR" || exit 3
# Put the site's modules here, or: eval "$(run/gpu-env)"

export OMP_PLACES=cores OMP_PROC_BIND=close OMPI_MCA_odls_base_sigkill_timeout=60
export CONFIG OVERRIDES="${OVERRIDES:-}" FDAPP="${FDAPP:-}" LAUNCHER="${LAUNCHER:-}"
# An Open MPI without PBS in it, as Debian's, does not know the job's nodes and would fill the cores it sees.
launcher=${LAUNCHER:-mpirun -np $(wc -l <"$PBS_NODEFILE") --hostfile $PBS_NODEFILE --map-by slot:PE=${OMP_NUM_THREADS:-1} --bind-to core}

# attribute NAME: an attribute of this job. qstat folds long lines; a tab begins the next one.
job=$(qstat -f "$PBS_JOBID" | sed -e ':next' -e N -e '$!b next' -e 's/\n\t//g')
attribute() { sed -n "s/^ *$1 = //p" <<<"$job"; }

# PBS warns a job with SIGTERM, seconds before SIGKILL: too late for a large checkpoint. The run watches the clock itself.
walltime=$(attribute Resource_List.walltime)
wall=$(awk -F: '{ for (i = 1; i <= NF; i++) s = 60 * s + $i; print s }' <<<"${walltime:-0}")
limit=()
[ "$wall" -le 300 ] || limit=("output.wall_limit=$((wall - 180))")

# PBS signals every process of the job, mpirun too; USR1 asks for the checkpoint where only this script is told.
# SIGTERM long before the limit comes from qdel: then no further job is submitted.
run='' deleted=''
checkpoint() { [ -z "$run" ] || kill -USR1 "$run"; }
ended() {
  if [ "$wall" -eq 0 ] || [ $SECONDS -lt $((wall - 300)) ]; then deleted=yes; fi
  checkpoint
}
trap checkpoint USR1
trap ended TERM
# shellcheck disable=SC2086 # several words each
$launcher "${FDAPP:-build/fdapp}" "$CONFIG" $OVERRIDES restart.from=latest "${limit[@]}" &
run=$!
wait $run
while kill -0 $run 2>/dev/null; do wait $run; done # a signal ends wait, not the run
wait $run # once more, for the run's own status
status=$?

if [ $status -eq 75 ] && [ -n "$deleted" ]; then
  echo "job $PBS_JOBID: stopped after a checkpoint by SIGTERM, as qdel sends it: not submitted again" >&2
elif [ $status -eq 75 ]; then
  # Options of qsub are not part of the script: what this job asked for is asked for again. The variables go by name, so
  # that commas in them separate nothing.
  again=(-v "CONFIG,OVERRIDES,FDAPP,LAUNCHER")
  [ -z "${PBS_O_QUEUE:-}" ] || again+=(-q "$PBS_O_QUEUE")
  for resource in select place walltime; do
    value=$(attribute Resource_List.$resource)
    [ -z "$value" ] || again+=(-l "$resource=$value")
  done
  account=$(attribute Account_Name)
  [ -z "$account" ] || again+=(-A "$account")
  if qsub "${again[@]}" run/pbs.sh; then
    echo "job $PBS_JOBID: stopped after a checkpoint, submitted again"
  else
    echo "job $PBS_JOBID: stopped after a checkpoint; could not be submitted again: do it by hand to resume" >&2
  fi
fi
exit $status
