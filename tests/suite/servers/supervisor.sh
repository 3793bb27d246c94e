# The parent of one database server. It follows the commands that come in through stdin and answers
# each with one line; at the end of stdin it ends the server and removes the folder.
#
# Arguments: the folder to create, the signal that asks the server for a clean end, and the signal
# for a quick end when its data is not needed any more. The functions `install`, `serve` and `tidy`
# come before this text.

# neither Ctrl-C, nor a closed terminal, nor a reader that is gone may prevent the clean-up
trap '' HUP INT PIPE TERM
dir=$1 clean=$2 quick=$3 pid= kids= owner=
# both servers refuse to run as root, or should not
[ "$(id -u)" != 0 ] || owner="setpriv --reuid=65534 --regid=65534 --clear-groups"
umask 022

alive() { # a dead process that nobody has waited for yet does not count
  kill -s 0 "$1" 2>/dev/null && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}
gone() { # SECONDS PID...: waits until none of them runs
  left=$(($1 * 20)); shift
  for each in "$@"; do
    while alive "$each"; do
      [ "$left" -gt 0 ] || return 1
      left=$((left - 1)); sleep 0.05
    done
  done
}
# PostgreSQL serves its clients from child processes in groups of their own; once the parent is
# halted, their list is complete
all() {
  kill -s STOP "$pid" || return
  kids=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null || pgrep -P "$pid")
  [ -z "$kids" ] || kill -s "$1" $kids
  kill -s "$1" "$pid"
}

mkdir -m 700 "$dir" && cd "$dir" || exit
exec 2>supervisor.log
[ -z "$owner" ] || chown 65534:65534 .
if install </dev/null >server.log 2>&1; then echo ok; else echo no; fi

while read -r word; do
  if case $word in
    start) (trap - HUP INT PIPE TERM; serve) </dev/null >>server.log 2>&1 & pid=$! ;;
    alive) alive "$pid" ;;
    # it may be gone before it is told to go on
    stop) alive "$pid" && kill -s "$clean" "$pid" && { all CONT; gone 30 "$pid"; } ;;
    KILL) alive "$pid" && all KILL && gone 10 "$pid" $kids ;;
    STOP | CONT) alive "$pid" && all "$word" ;;
    *) false ;;
  esac; then echo ok; else echo no; fi
done

if alive "$pid"; then
  kill -s "$quick" "$pid"
  all CONT
  gone 10 "$pid" || { all KILL; gone 10 "$pid" $kids; }
fi
tidy
cd / && { rm -rf "$dir" || { sleep 1; rm -rf "$dir"; }; }
