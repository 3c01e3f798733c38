"""What is not as in Go, on purpose: the entries of left-out.tsv and left-out-tests.tsv, none wider than its reason.

An entry names one identifier and one thing that is wrong with it, so that it hides nothing else: what is excused for
other arguments may not go missing. Only what is missing covers more than itself: the members of what is not there. An
entry that excuses nothing any more is dead, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MISSING = "missing"


@dataclass
class Excuses:
    """The entries of a table, by name and what is wrong with it; remembers which of them were needed."""

    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    _used: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def read(cls, entries: Iterable[Mapping[str, str]]) -> Excuses:
        """Entries with columns name, state, reason. What is no single name is reported and excuses nothing."""
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
        """Why that is so; "" when nobody says. `absent`: what is not there itself and has `name` as a member."""
        for each in (name, *absent):
            if (each, state) in self.reasons:
                self._used.add((each, state))
                return self.reasons[each, state]
        return ""

    def dead(self) -> list[str]:
        """The entries that no call of `reason` has needed."""
        return [f"{name}: is not {state} any more" for name, state in self.reasons if (name, state) not in self._used]
