#!/bin/sh
# Make the development environment in the folder $1: a virtual environment with this project, its test tools and act.
# On a fresh Debian or Ubuntu git and the venv module may be missing; both come from the distribution.
set -eu
venv=$1
python=${PYTHON:-python3}

say() { printf 'dev-env: %s\n' "$*" >&2; }

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    say "Python 3.10 or newer is needed; '$python' is $("$python" --version 2>&1). Set PYTHON=python3.12, for example."
    exit 3
}

missing=
command -v git >/dev/null 2>&1 || missing="$missing git"
"$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || missing="$missing python3-venv"
if [ -n "$missing" ]; then
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    if command -v apt-get >/dev/null 2>&1 && { [ -z "$as_root" ] || command -v sudo >/dev/null 2>&1; }; then
        say "installing$missing with apt-get"
        $as_root apt-get update -qq
        # shellcheck disable=SC2086  # a list of package names
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    else
        say "please install:$missing (Debian and Ubuntu: apt-get install$missing)"
        exit 3
    fi
fi

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
# Dependency groups need pip 25.1; the one that venv brings on Debian 12 and Ubuntu 22.04 is older.
"$venv/bin/python" -m pip install --quiet --upgrade 'pip>=25.1'
"$venv/bin/python" -m pip install --quiet --editable . --group dev
