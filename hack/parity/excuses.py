"""Deliberate differences from Go: the entries of left-out.tsv and left-out-tests.tsv.

An entry names one identifier and one difference, so that it hides no other difference of that identifier. Only an entry
for a missing identifier also covers its members. An entry that excuses no difference any more is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MISSING = "missing"


@dataclass
class Excuses:
    """The entries of a table by name and difference, with a record of the entries needed."""

    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    _used: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def read(cls, entries: Iterable[Mapping[str, str]]) -> Excuses:
        """Read entries with the columns name, state and reason. Reports an entry that does not name one identifier."""
        excuses = cls()
        for entry in entries:
            name, state = entry["name"], entry["state"]
            if "*" in name:
                excuses.wrong.append(f"{name}: an excuse names one identifier")
            elif (name, state) in excuses.reasons:
                excuses.wrong.append(f"{name}: excused twice")
            elif not entry["reason"]:
                excuses.wrong.append(f"{name}: an excuse has a reason")
            else:
                excuses.reasons[name, state] = entry["reason"]
        return excuses

    def reason(self, name: str, state: str, absent: Iterable[str] = ()) -> str:
        """Return the reason for the difference, or "" if no entry has one. `absent` lists missing owners of `name`."""
        for each in (name, *absent):
            if (each, state) in self.reasons:
                self._used.add((each, state))
                return self.reasons[each, state]
        return ""

    def dead(self) -> list[str]:
        """Return the entries that no call of `reason` needed."""
        return [f"{name}: is not {state} any more" for name, state in self.reasons if (name, state) not in self._used]
