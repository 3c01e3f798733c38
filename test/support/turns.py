"""Plugin that lets the cases of expensive tests take turns: each run of all tests runs a share of them.

    @pytest.mark.takes_turns(4)                            # each case is in one run of four
    pytestmark = pytest.mark.takes_turns(4, together=True)  # and all cases of the module, which share a costly fixture

`hack/test` passes `--turn N` with the number of commits, so that the runs of consecutive commits cover all cases.
Without the option, as in `hack/test PATH` and `hack/test --all`, every case runs. The summary reports how many cases
waited for another turn.
"""

from __future__ import annotations

import zlib
from collections import Counter
from itertools import groupby
from typing import Any

import pytest

_LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--turn", type=int, metavar="N", help="run only the cases of expensive tests whose turn it is; default: all"
    )
    parser.addoption(
        "--turns-of-others", type=int, metavar="N", default=1, help="with --turn, run one of N other cases; default: 1"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "takes_turns(every, together=False): with --turn, each case of the test is in one run of this many; together: "
        "all cases of its module that say so are in the same",
    )
    config.stash[_LEFT_OUT] = 0
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(_Workers())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    turn = config.getoption("--turn")
    if turn is None:
        return
    dealt = deal(items, config.getoption("--turns-of-others"))
    waiting = {item for item, its_turn, every in dealt if its_turn != turn % every}
    if not waiting:
        return
    config.hook.pytest_deselected(items=list(waiting))
    config.stash[_LEFT_OUT] = len(waiting)
    items[:] = [item for item in items if item not in waiting]


def deal(items: list[pytest.Item], others: int = 1) -> list[tuple[pytest.Item, int, int]]:
    """Return (item, its turn, number of turns) for each item. Items without the marker have `others` turns.

    The items of equally many turns get one turn after the other: turns are of equal size, and neighbours differ. The
    cases of one test are shuffled first, always in the same way. Otherwise all cases in one language would share a
    turn. Modules with `together` come first: each takes a minute of CPU, and so no two share a turn.
    """
    dealt = []
    count: Counter[int] = Counter()
    shared: dict[str, int] = {}
    tests = [list(cases) for _, cases in groupby(items, key=lambda item: item.nodeid.partition("[")[0])]
    for cases in sorted(tests, key=lambda cases: not _together(cases[0])):
        for item in sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode())):
            marker = item.get_closest_marker("takes_turns")
            (every,) = marker.args if marker else (others,)
            turn = count[every] % every
            if _together(item):
                module = item.nodeid.partition("::")[0]
                if module in shared:
                    dealt.append((item, shared[module], every))
                    continue
                shared[module] = turn
            dealt.append((item, turn, every))
            count[every] += 1
    return dealt


def _together(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("takes_turns")
    return marker is not None and bool(marker.kwargs.get("together"))


class _Workers:
    """The workers of pytest-xdist collect the tests, and the first process prints the summary."""

    @pytest.hookimpl
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["left_out"] = session.config.stash[_LEFT_OUT]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        left_out = getattr(node, "workeroutput", {}).get("left_out", 0)
        node.config.stash[_LEFT_OUT] = max(left_out, node.config.stash[_LEFT_OUT])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if left_out := config.stash[_LEFT_OUT]:
        terminalreporter.write_line(f"{left_out} cases of expensive tests wait for another turn: hack/test --all")
