# Programs and the Debian packages that bring them. Sourced by the scripts beside it.

# Debian leaves sbin out of a user's PATH
found() { PATH=$PATH:/usr/sbin:/usr/local/sbin command -v "$1" >/dev/null; }

has_postgresql() {
  [ -n "${ONWARD_POSTGRES_URL:-}" ] && return
  found initdb && found postgres && return
  local bin
  for bin in /usr/lib/postgresql/*/bin; do
    [ -x "$bin/initdb" ] && [ -x "$bin/postgres" ] && return
  done
  return 1
}

# Installs packages where that is possible; what is missing afterwards is for the caller to say.
install_packages() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
  # The packages would start services, which the tests do not use; a policy of 101 forbids that.
  ( # a subshell, so that its trap removes the policy even if apt-get fails
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
      trap 'rm -f "$policy"' EXIT
      printf '#!/bin/sh\nexit 101\n' >"$policy"
      chmod 755 "$policy"
    fi
    echo "installing $*"
    apt-get -q update
    DEBIAN_FRONTEND=noninteractive \
      apt-get -q install -y --no-install-recommends "$@"
  ) >&2
}

missing=0
lacks() { # NAME PACKAGE [VARIABLE]
  echo "$1 was not found: install it (on Debian: \`apt-get install $2\`, or run this script as root)${3:+, or set $3}." >&2
  missing=1
}
