"""The programs of simulated containers: a small shell with the commands that kubectl and tests use.

`sh -c` understands commands after one another (`;`, `&&`, `||`, newlines), quotes, `$NAME`, and the redirections
`> file`, `>> file`, `< file` and `>&2`. There are no pipes, jobs, loops or functions. kubectl cp needs `tar` and
`test`.
"""

from __future__ import annotations

import hashlib
import io
import math
import posixpath
import re
import shlex
import tarfile
import threading
from collections.abc import Callable, Mapping
from typing import Final

from clientgo.golang import utf8
from clientgo.testing.apiserver.simulator.files import Files
from clientgo.testing.apiserver.streams.runtime import Input, Output, Streams

__all__ = ["Shell"]

_PIECE: Final = 32 << 10
_MAX_LINE: Final = 64 << 10
_NAME: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+|\?))")
_QUOTED: Final = re.compile(r"('[^']*')")
_BETWEEN: Final = (";", "&&", "||", "\n")
_END_OF_INPUT: Final = 4
_INTERRUPT: Final = 3
_ERASE: Final = (8, 127)


class _Exit(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Writer(io.RawIOBase):
    """An output as a file, for the archive of tar."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # tarfile gives bytes
        self._output.write(bytes(data))
        return len(data)


class _Reader(io.RawIOBase):
    """An input as a file, for the archive of tar."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while len(self._rest) < size and (data := self._source.read(_PIECE)):
            self._rest += data
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


class Shell:
    """The shell for one command in a container. One thread uses it."""

    def __init__(self, files: Files, environment: Mapping[str, str], streams: Streams) -> None:
        self._files = files
        self._environment = dict(environment)
        self._streams = streams
        self._folder = "/"
        self._code = 0
        self._programs: dict[str, Callable[[list[str], Streams], int]] = {
            "cat": self._cat,
            "cd": self._cd,
            "echo": self._echo,
            "env": self._env,
            "exit": self._exit,
            "false": lambda args, streams: 1,
            "hostname": self._hostname,
            "ls": self._ls,
            "mkdir": self._mkdir,
            "pwd": lambda args, streams: self._print(streams, self._folder),
            "rm": self._rm,
            "seq": self._seq,
            "sh": self._sh,
            "sha256sum": self._sha256sum,
            "sleep": self._sleep,
            "stty": self._stty,
            "tar": self._tar,
            "test": self._test,
            "true": lambda args, streams: 0,
            "tty": self._tty,
            "wc": self._wc,
        }
        for alias in ("bash", "/bin/sh", "/bin/bash"):
            self._programs[alias] = self._sh

    def run(self, command: list[str]) -> int:
        """Run a program and return its exit code. Raises FileNotFoundError for an unknown one, OSError."""
        program = self._programs.get(command[0])
        if program is None:
            raise FileNotFoundError(f'exec: "{command[0]}": executable file not found in $PATH')
        try:
            return program(command[1:], self._streams)
        except _Exit as err:
            return err.code

    # ---- the shell

    def _sh(self, args: list[str], streams: Streams) -> int:
        if args[:1] == ["-c"] and len(args) > 1:
            return self._script(args[1], streams)
        if args:
            return self._script(self._files.read(self._path(args[0])).decode("utf-8", "replace"), streams)
        return self._interactive(streams)

    def _interactive(self, streams: Streams) -> int:
        """Read commands from the input until its end. A terminal echoes, and has a prompt."""
        if streams.tty:
            streams.stdout.write(b"# ")
        line = bytearray()
        while data := streams.stdin.read(_PIECE):
            for byte in data:
                if byte in b"\r\n":
                    if streams.tty:
                        streams.stdout.write(b"\r\n")
                    self._script(line.decode("utf-8", "replace"), streams)
                    line.clear()
                    if streams.tty:
                        streams.stdout.write(b"# ")
                elif streams.tty and byte == _END_OF_INPUT and not line:
                    return self._code
                elif streams.tty and byte == _INTERRUPT:
                    line.clear()
                    streams.stdout.write(b"^C\r\n# ")
                elif streams.tty and byte in _ERASE:
                    if line:
                        line.pop()
                        streams.stdout.write(b"\b \b")
                elif len(line) < _MAX_LINE:
                    line.append(byte)
                    if streams.tty:
                        streams.stdout.write(bytes((byte,)))
        if line:
            self._script(line.decode("utf-8", "replace"), streams)
        return self._code

    def _script(self, script: str, streams: Streams) -> int:
        lexer = shlex.shlex(script.replace("\n", " ; "), posix=False, punctuation_chars=";&|<>")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError as err:
            return self._fail(streams, f"sh: syntax error: {err}", 2)
        command: list[str] = []
        before = ";"
        for word in [*words, ";"]:
            if word not in _BETWEEN:
                command.append(word)
                continue
            skipped = (before == "&&" and self._code) or (before == "||" and not self._code)
            if command and not skipped:
                self._code = self._command(command, streams)
            if command or word != ";":
                before = word
            command = []
            if streams.gone.is_set():
                return 137
        return self._code

    def _command(self, words: list[str], streams: Streams) -> int:
        try:
            args, redirected, flush = self._redirections(words, streams)
            program = self._programs.get(args[0]) if args else None
            if program is None:
                return self._fail(streams, f"sh: {args[0] if args else ''}: not found", 127)
            code = program(args[1:], redirected)
            flush()
            return code
        except OSError as err:
            if isinstance(err, ConnectionError):
                raise  # the client has gone
            return self._fail(streams, str(err), 1)

    def _redirections(self, words: list[str], streams: Streams) -> tuple[list[str], Streams, Callable[[], None]]:
        """Return the words of the command, its streams, and a function that writes its output to a file."""
        args: list[str] = []
        redirected = Streams(**vars(streams))
        flush: Callable[[], None] = lambda: None  # noqa: E731
        position = 0
        while position < len(words):
            word = words[position]
            if words[position : position + 2] == [">&", "2"]:
                redirected.stdout = streams.stdout if streams.tty else streams.stderr
                position += 2
                continue
            if word in (">", ">>", "<") and position + 1 < len(words):
                path = self._path(self._expanded(words[position + 1]))
                if word == "<":
                    redirected.stdin = _Bytes(self._files.read(path))
                else:
                    output = _Collected()
                    redirected.stdout = output
                    flush = _flusher(self._files, path, output, word == ">>")
                position += 2
                continue
            args.append(self._expanded(word))
            position += 1
        return args, redirected, flush

    def _expanded(self, word: str) -> str:
        """Return a word without its quotes, and with the values of the variables outside of single quotes."""

        def value(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            return str(self._code) if name == "?" else self._environment.get(name, "")

        parts = _QUOTED.split(word)
        return "".join(
            part[1:-1] if part.startswith("'") and part.endswith("'") and len(part) > 1
            else _NAME.sub(value, part.replace('"', ""))
            for part in parts
        )

    def _path(self, name: str) -> str:
        return Files.path(self._folder, name)

    @staticmethod
    def _print(streams: Streams, text: str) -> int:
        end = "\r\n" if streams.tty else "\n"
        streams.stdout.write(utf8.encode(text.replace("\n", end) + end))
        return 0

    @staticmethod
    def _fail(streams: Streams, text: str, code: int) -> int:
        output = streams.stdout if streams.tty else streams.stderr
        output.write(utf8.encode(text) + (b"\r\n" if streams.tty else b"\n"))
        return code

    # ---- the programs

    def _cat(self, args: list[str], streams: Streams) -> int:
        for name in args or ["-"]:
            if name == "-":
                while data := streams.stdin.read(_PIECE):
                    streams.stdout.write(data)
                continue
            data = self._files.read(self._path(name))
            for start in range(0, len(data), _PIECE):
                streams.stdout.write(data[start : start + _PIECE])
        return 0

    def _cd(self, args: list[str], streams: Streams) -> int:
        path = self._path(args[0] if args else "/")
        if not self._files.is_folder(path):
            return self._fail(streams, f"sh: cd: can't cd to {path}", 1)
        self._folder = path
        return 0

    def _echo(self, args: list[str], streams: Streams) -> int:
        if args[:1] == ["-n"]:
            streams.stdout.write(utf8.encode(" ".join(args[1:])))
            return 0
        return self._print(streams, " ".join(args))

    def _env(self, args: list[str], streams: Streams) -> int:
        return self._print(streams, "\n".join(f"{name}={value}" for name, value in self._environment.items()))

    def _exit(self, args: list[str], streams: Streams) -> int:
        raise _Exit(int(args[0]) & 255 if args and args[0].isdecimal() else self._code)

    def _hostname(self, args: list[str], streams: Streams) -> int:
        return self._print(streams, self._environment["HOSTNAME"])

    def _ls(self, args: list[str], streams: Streams) -> int:
        for name in [arg for arg in args if not arg.startswith("-")] or ["."]:
            path = self._path(name)
            if self._files.is_file(path):
                self._print(streams, name)
                continue
            if not self._files.is_folder(path):
                return self._fail(streams, f"ls: {name}: No such file or directory", 1)
            entries = [entry for entry in self._files.below(path) if posixpath.dirname(entry) == path]
            for entry in entries:
                self._print(streams, posixpath.basename(entry))
        return 0

    def _mkdir(self, args: list[str], streams: Streams) -> int:
        for name in [arg for arg in args if not arg.startswith("-")]:
            self._files.make_folder(self._path(name))
        return 0

    def _rm(self, args: list[str], streams: Streams) -> int:
        for name in [arg for arg in args if not arg.startswith("-")]:
            self._files.remove(self._path(name))
        return 0

    def _seq(self, args: list[str], streams: Streams) -> int:
        last = int(args[0]) if args and args[0].isdecimal() else 0
        for start in range(1, last + 1, 1000):
            if streams.gone.is_set():
                return 137
            numbers = range(start, min(start + 1000, last + 1))
            streams.stdout.write("".join(f"{number}\n" for number in numbers).encode())
        return 0

    def _sha256sum(self, args: list[str], streams: Streams) -> int:
        digest = hashlib.sha256()
        if args:
            digest.update(self._files.read(self._path(args[0])))
        else:
            while data := streams.stdin.read(_PIECE):
                digest.update(data)
        return self._print(streams, f"{digest.hexdigest()}  {args[0] if args else '-'}")

    def _sleep(self, args: list[str], streams: Streams) -> int:
        try:
            seconds = float(args[0])
        except (IndexError, ValueError):
            seconds = math.nan
        if not seconds >= 0:
            return self._fail(streams, "sleep: invalid number", 1)
        return 137 if streams.gone.wait(min(seconds, threading.TIMEOUT_MAX)) else 0

    def _stty(self, args: list[str], streams: Streams) -> int:
        if not streams.tty:
            return self._fail(streams, "stty: standard input: Not a tty", 1)
        size = streams.size
        return self._print(streams, f"{size.height} {size.width}" if size is not None else "0 0")

    def _tty(self, args: list[str], streams: Streams) -> int:
        return self._print(streams, "/dev/pts/0" if streams.tty else "not a tty") or int(not streams.tty)

    def _test(self, args: list[str], streams: Streams) -> int:
        if len(args) != 2:
            return int(not any(args))
        path = self._path(args[1])
        known = {
            "-d": self._files.is_folder(path),
            "-f": self._files.is_file(path),
            "-e": self._files.is_folder(path) or self._files.is_file(path),
        }
        return int(not known.get(args[0], False))

    def _wc(self, args: list[str], streams: Streams) -> int:
        size = 0
        if [arg for arg in args if not arg.startswith("-")]:
            size = len(self._files.read(self._path(args[-1])))
        else:
            while data := streams.stdin.read(_PIECE):
                size += len(data)
        return self._print(streams, str(size))

    # ---- tar

    def _tar(self, args: list[str], streams: Streams) -> int:
        """Write an archive to the output (`cf -`), or unpack one from the input (`xf -`). Other uses fail."""
        folder, names, flags = self._folder, [], ""
        rest = iter(args)
        for arg in rest:
            if arg == "-C":
                folder = self._path(next(rest, "/"))
            elif arg.startswith("--"):
                continue
            elif not flags:
                flags = arg.lstrip("-")
            elif arg != "-":
                names.append(arg)
        try:
            if "c" in flags and "f" in flags:
                return self._pack(folder, names, streams)
            if "x" in flags and "f" in flags:
                self._unpack(folder, streams)
                return 0
        except tarfile.TarError as err:
            return self._fail(streams, f"tar: {err}", 2)
        return self._fail(streams, "tar: only archives on the standard streams are supported", 2)

    def _pack(self, folder: str, names: list[str], streams: Streams) -> int:
        code = 0
        with tarfile.open(fileobj=_Writer(streams.stdout), mode="w|") as archive:
            for name in names:
                path = Files.path(folder, name)
                if not self._files.is_file(path) and not self._files.is_folder(path):
                    code = self._fail(streams, f"tar: {name}: Cannot stat: No such file or directory", 2)
                    continue
                inside = self._files.below(path) if self._files.is_folder(path) else []
                for each in [path, *inside]:
                    self._pack_one(archive, each, name.lstrip("/") + each[len(path) :])
        return code

    def _pack_one(self, archive: tarfile.TarFile, path: str, name: str) -> None:
        entry = tarfile.TarInfo(name)
        if self._files.is_folder(path):
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        else:
            data = self._files.read(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))

    def _unpack(self, folder: str, streams: Streams) -> None:
        with tarfile.open(fileobj=_Reader(streams.stdin), mode="r|") as archive:
            for entry in archive:
                path = Files.path(folder, entry.name.lstrip("/"))
                if entry.isdir():
                    self._files.make_folder(path)
                elif entry.isfile() and (content := archive.extractfile(entry)) is not None:
                    self._files.make_folder(posixpath.dirname(path))
                    self._files.write(path, b"")
                    while data := content.read(_PIECE):
                        self._files.write(path, data, append=True)


class _Bytes:
    """The content of a file as an input."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)


class _Collected:
    """An output that goes to a file."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> None:
        if len(self.data) + len(data) > 64 << 20:
            raise OSError("sh: write error: No space left on device")
        self.data += data


def _flusher(files: Files, path: str, output: _Collected, append: bool) -> Callable[[], None]:
    return lambda: files.write(path, bytes(output.data), append=append)
