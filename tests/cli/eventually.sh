# What every case may use: read by run_case.sh before the case itself.

# Runs a command until it succeeds, for a minute: programs that a case has just begun have files and ports to open
# first, and the machine may be busy. What the command prints of its failures is not the case's.
eventually() {
  for _ in $(seq 600); do
    "$@" 2>/dev/null && return
    sleep 0.1
  done
  echo "never came true: $*" >&2
  return 1
}

# at_least COUNT PATTERN FILE: so many of its lines match.
at_least() { [ "$(grep -c -e "$2" "$3")" -ge "$1" ]; }

# has_ended PID, of a process that the case itself need not have begun.
has_ended() { ! kill -0 "$1"; }
