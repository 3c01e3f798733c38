# Sourced by the scripts here: finding a Python and making a virtual environment with the project in it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Some machines forbid Python to keep what it compiled. Then each of the hundreds of programs that the tests start
# compiles the library anew: four times the time of starting one.
unset PYTHONDONTWRITEBYTECODE

# The versions of Python that are supported. In CI each of them has to be there.
supported_pythons="3.11 3.12 3.13"

# Those without a GIL. They are tested where there are any.
free_threaded_pythons="3.13t 3.14t"

# The first Python on PATH that is new enough; $PYTHON goes before all.
find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  echo "clientgo needs Python 3.11 or newer, and there is none on PATH." >&2
  echo "Install one (apt-get install python3, pyenv install 3.13), or name it: PYTHON=/path/to/python $0" >&2
  exit 1
}

# find_python_version 3.12: that Python on PATH, or one that pyenv has; 3.13t is one without a GIL, and 3.13 never is.
# Prints nothing when there is none.
find_python_version() {
  local candidate number=${1%t} free=False
  if [ "$number" != "$1" ]; then free=True; fi
  local is_other="(*sys.version_info[:2], bool(sysconfig.get_config_var('Py_GIL_DISABLED'))) != (${number/./, }, $free)"
  for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$number".*/bin/python "${PYTHON:-python3}"; do
    if "$candidate" -c "import sys, sysconfig, venv; sys.exit($is_other)" >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
}

# in_use DIR: until this script and what it turns into (exec) have ended, nobody makes that environment anew. Waits while
# somebody is making it. Without flock, as on macOS, nothing is held.
in_use() {
  command -v flock >/dev/null || return 0
  if [ "${in_use_dir:-}" != "$1" ]; then
    in_use_dir=$1
    exec {in_use_fd}>"$1.lock"
  fi
  flock --shared "$in_use_fd"
}

# alone DIR: of those who called in_use, only this one may go on, to make the environment anew.
alone() {
  command -v flock >/dev/null || return 0
  if ! flock --exclusive --nonblock "$in_use_fd"; then
    echo "${1#"$root"/} has to be made anew, and another run is using it. Try again when that has ended." >&2
    exit 1
  fi
}

# make_venv DIR EXTRAS [PYTHON]: a virtual environment in DIR with the project and its extras; a second run reuses it.
make_venv() {
  local venv=$1 extras=$2 python stamp quiet=--quiet
  python=${3:-$(find_python)} || exit 1
  stamp="$("$python" -c 'import sys; print(sys.version)') $extras $(cat "$root/setup.cfg" "$root/pyproject.toml" | cksum)"
  in_use "$venv"
  if [ "$(cat "$venv/.stamp" 2>/dev/null)" = "$stamp" ]; then
    return
  fi
  alone "$venv"
  echo "Making a virtual environment in ${venv#"$root"/} with $("$python" --version)" >&2
  rm -rf "$venv"
  "$python" -m venv "$venv"
  # On a terminal pip shows its progress: downloading may take minutes.
  if [ -t 2 ]; then quiet=--progress-bar=on; fi
  # Python compiles what is imported; pip would compile all of it, most of which never is, and take twice as long.
  "$venv/bin/python" -m pip install "$quiet" --disable-pip-version-check --no-compile --editable "$root$extras" >&2
  echo "$stamp" >"$venv/.stamp"
  in_use "$venv"
}

# Is there a browser that tests can drive?
has_browser() {
  command -v chromium >/dev/null && command -v chromedriver >/dev/null
}

# make_test_venv: .venv-test, which test, lint, mutants and bench share: were their extras not the same, each would make
# it anew after the other.
make_test_venv() {
  local browser=
  if has_browser; then browser=,browser; fi
  make_venv "$root/.venv-test" "[all,dev,peers,lint,site$browser]"
}
