# Stands between a worker and one command, and outlives the worker: POSIX sh, its builtins, setsid,
# sleep and rm. Started in a session of its own:   sh -c THIS supervisor SETSID MARKER COMMAND...
#
# Standard input is a pipe from the worker. A line on it: ask the command's processes to end (TERM),
# and wait until they have. Its end, because the worker closed it or is gone: kill them (KILL). When
# the command ends by itself, whatever it leaves behind is killed. MARKER is written to both streams
# at the very end, so that the worker need not wait for a process that got away with them open.
setsid=$1 marker=$2
shift 2
exec 3<&0 4>&1 5>&2 </dev/null >/dev/null 2>&1
asked=
trap 'asked=1' USR1

"$setsid" "$@" >&4 2>&5 3<&- 4>&- 5>&- &
main=$!

# Runs "$@ PID" for all that lives in the command's session, whatever group it moved to.
each() {
  for stat in /proc/[0-9]*/stat; do
    read -r line <"$stat" || continue
    line=${line##*) }
    state=${line%% *} line=${line#* * * }
    [ "${line%% *}" = "$main" ] && [ "$state" != Z ] || continue
    pid=${stat#/proc/}
    "$@" "${pid%/stat}"
  done
}

slay() {
  kill -s KILL -- "-$main"
  each kill -s KILL
}

(
  while read -r _ <&3; do
    kill -s USR1 "$$"
    kill -s TERM -- "-$main" || kill -s TERM "$main"
  done
  rm -f -- "$BATON_OUTPUT"
  kill -s KILL "$main"
  slay
  slay
) 4>&- 5>&- &
watcher=$!

# A signal ends wait early, and then the command is still there.
while wait "$main"; code=$?; kill -0 "$main"; do :; done
while [ "$asked" ] && [ "$(each echo)" ]; do sleep 0.1; done
kill -s KILL "$watcher"
wait "$watcher" # or it is left to whoever is process 1, which in a container may be the worker
slay
printf %s "$marker" >&4
printf %s "$marker" >&5
exit "$code"
