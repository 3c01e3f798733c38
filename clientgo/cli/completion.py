"""Completion of commands and their options for bash, zsh and fish."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Sequence

from clientgo.cli import command

# The modules whose `parser()` knows a command's options.
_PARSERS = {
    "explain": "clientgo.cli.explain",
    "programs": "clientgo.cli.programs",
    "shell": "clientgo.cli.shell",
    "completion": "clientgo.cli.completion",
}
# The words of the other commands. Their modules take too long to import when a shell starts; a test compares.
_WORDS = {
    "apiserver": "--help --help-all --kubeconfig-out --port --bind-address --data-dir --history --token-auth-file "
    "--tls-cert-file --tls-private-key-file --disable-garbage-collector --enable-admission-plugins "
    "--disable-admission-plugins --feature-gates --simulate-workloads --simulate-delay --logging-format",
    "demo": "--help --stay --quiet",
    "tour": "--help --port --no-browser --record --worker --replay --terminal --scenario --export --lesson --no-breaks",
    "codegen": "--help --root --output --crds --verify",
    "scaffold": "init create api webhook generate version --help --domain --repo --project-name --group --version "
    "--kind --plural --namespaced --resource --controller --force --defaulting --programmatic-validation --conversion "
    "--spoke --verify",
    "dashboard": "--help --title",
    "version": "--help",
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
        cases = [f"  {name}) compadd -- {' '.join(options)}; _files ;;" for name, options in _options().items()]
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
    """Return the long options, the choices and the commands of each command."""
    found = {name: words.split() for name, words in _WORDS.items()}
    for name, module in _PARSERS.items():
        parser = importlib.import_module(module).parser()
        words = re.findall(r"(?m)^  (?:-\w[^,]*, )?(--[\w-]+)", parser.format_help())
        for choices in re.findall(r"\{([\w,]+)\}", parser.format_usage()):
            words += choices.split(",")
        found[name] = words
    return found
