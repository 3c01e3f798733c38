"""Completion of commands and their options for bash, zsh and fish."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Sequence

from clientgo.cli import command

# The modules whose `parser()` knows a command's options; other programs complete file names only.
_PARSERS = {
    "explain": "clientgo.cli.explain",
    "programs": "clientgo.cli.programs",
    "shell": "clientgo.cli.shell",
    "completion": "clientgo.cli.completion",
}

_BASH = """_clientgo() {{
  local word=${{COMP_WORDS[COMP_CWORD]}}
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o default -F _clientgo clientgo
"""

_ZSH = """#compdef clientgo
_clientgo() {{
  if (( CURRENT == 2 )); then
    local -a commands=({described})
    _describe command commands
    return
  fi
  case $words[2] in
{cases}
  *) _files ;;
  esac
}}
compdef _clientgo clientgo
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    made = argparse.ArgumentParser(
        f"{command.PROG} completion",
        description="Print the completion of a shell. For bash, add to ~/.bashrc: source <(clientgo completion bash)",
    )
    made.add_argument("shell", choices=["bash", "zsh", "fish"])
    return made


def main(arguments: Sequence[str]) -> int:
    """Print the completion of a shell; return the exit code."""
    print(script(parser().parse_args(arguments).shell), end="")
    return 0


def script(shell: str) -> str:
    """Return the text that a shell evaluates."""
    if shell == "bash":
        cases = [
            f'  {name}) COMPREPLY=($(compgen -W "{" ".join(options)}" -- "$word")) ;;'
            for name, options in _options().items()
        ]
        return _BASH.format(commands=" ".join(command.COMMANDS), cases="\n".join(cases))
    if shell == "zsh":
        described = " ".join(f"'{name}:{one.summary}'" for name, one in command.COMMANDS.items())
        cases = [f"  {name}) compadd -- {' '.join(options)} ;;" for name, options in _options().items()]
        return _ZSH.format(described=described, cases="\n".join(cases))
    return "".join(
        f"complete -c clientgo -n __fish_use_subcommand -a {name} -d '{one.summary}'\n"
        for name, one in command.COMMANDS.items()
    ) + "".join(
        f"complete -c clientgo -n '__fish_seen_subcommand_from {name}' -l {option.removeprefix('--')}\n"
        if option.startswith("--")
        else f"complete -c clientgo -n '__fish_seen_subcommand_from {name}' -a {option}\n"
        for name, options in _options().items()
        for option in options
    )


def _options() -> dict[str, list[str]]:
    """Return the long options and the choices of each command that declares them."""
    found = {}
    for name, module in _PARSERS.items():
        usage = importlib.import_module(module).parser().format_usage()
        words = re.findall(r"--[\w-]+", usage)
        for choices in re.findall(r"\{([\w,]+)\}", usage):
            words += choices.split(",")
        found[name] = words
    return found
