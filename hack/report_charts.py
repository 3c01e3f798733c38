"""The pictures of hack/report: bars as SVG, from the figures of a section or the output of a benchmark.

A bar's position and length are parts of the page's width, and the text has the page's colour and size, so that a
picture fits a telephone, a wide screen, and both themes of the site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

__all__ = ["CHARTS", "Chart", "charts_of", "svg"]

_ROW = 38
_TOP = 8


class Chart(NamedTuple):
    """A title and bars: (label, value). Bars whose label starts with `ours` are emphasized, unless it is empty."""

    title: str
    unit: str
    bars: Sequence[tuple[str, float]]
    ours: str = "clientgo"


def svg(chart: Chart) -> str:
    """Return the picture as an SVG element. A chart without a positive value has bars without length."""
    largest = max((value for _, value in chart.bars), default=0.0) or 1.0
    height = _TOP + _ROW * len(chart.bars)
    summary = ", ".join(f"{label}: {_number(value)}" for label, value in chart.bars)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="100%" height="{height}" fill="currentColor" '
        f'font-family="inherit" font-size="13" aria-label="{escape(f"{chart.title}, {chart.unit}. {summary}")}">'
    ]
    for number, (label, value) in enumerate(chart.bars):
        top = _TOP + _ROW * number
        is_ours = bool(chart.ours) and label.startswith(chart.ours)
        colour = "#2f7bd6" if is_ours or not chart.ours else "#8a919a"
        weight = ' font-weight="600"' if is_ours else ""
        width = max(value, 0.0) / largest * 100
        lines += [
            f'<text x="0" y="{top + 12}"{weight}>{escape(label)}</text>',
            f'<text x="100%" y="{top + 12}" text-anchor="end"{weight}>{_number(value)}</text>',
            f'<rect x="0" y="{top + 18}" width="100%" height="8" rx="2" fill="#8a919a" fill-opacity="0.15"/>',
            f'<rect x="0" y="{top + 18}" width="{width:.2f}%" height="8" rx="2" fill="{colour}"/>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def charts_of(path: str, output: str) -> list[Chart]:
    """Return the charts of a benchmark's output; none if it has no picture or the output lacks its rows."""
    return [chart for chart in (read(output) for read in CHARTS.get(path, ())) if len(chart.bars) > 1]


def _queues(row: str) -> Callable[[str], Chart]:
    def read(output: str) -> Chart:
        header = re.search(r"(?m)^add\+get\+done a second +(.*?)(?: {2,}x .*)?$", output)
        figures = re.search(rf"(?m)^{re.escape(row)} +([\d, .]+)$", output)
        names = header[1].split() if header else []
        values = [_float(text) for text in figures[1].split()] if figures else []
        bars = [*zip(names, values, strict=False)]
        if go := re.search(rf"(?m)^{re.escape(row)} +([\d,]+) +[\d.]+$", output.partition("\nof Go")[2]):
            bars.append(("Go", _float(go[1])))
        return Chart(f"Work queue: add, get and done, {row}", "items per second", bars)

    return read


def _watch(output: str) -> Chart:
    """Read the first table of bench_wire.py, which has varied Pods. CPU time depends less on other programs."""
    names = {
        "informer": "clientgo, protobuf",
        "informer, json, fast": "clientgo, JSON, fast",
        "informer, json": "clientgo, JSON",
        "official informer": "official Python client",
        "Go": "Go, protobuf",
        "Go, json": "Go, JSON",
    }
    found: dict[str, float] = {}
    for line in output.splitlines():
        row = re.match(r"(\S.*?) {2,}[\d.,]+ +[\d.,]+ +[\d.,]+ +([\d.,]+) +[\d.,]+$", line)
        if row and row[1] in names:
            found.setdefault(names[row[1]], _float(row[2]))
    return Chart("Informer: CPU for each event of a watch", "microseconds, less is better", [*found.items()])


def _latency(output: str) -> Chart:
    names = {"informer": "clientgo, protobuf", "informer, json": "clientgo, JSON", "Go": "Go", "socket": "bare socket"}
    rows = re.findall(r"(?m)^(\S.*?) +median +([\d.]+) ms", output)
    bars = [(names[name], float(value)) for name, value in rows if name in names]
    return Chart("From the server's write to the handler", "milliseconds, median, less is better", bars)


def _pipeline(output: str) -> Chart:
    rows = re.findall(r"(?m)^(ours|Go) +(\d+) handlers? +([\d,]+) events/s", output)
    names = {"ours": "clientgo", "Go": "Go"}
    bars = [(f"{names[who]}, {n} handler{'s' * (n != '1')}", _float(rate)) for who, n, rate in rows]
    return Chart("Events from memory to the handlers, without a network", "events per second", bars)


def _float(text: str) -> float:
    return float(text.replace(",", ""))


CHARTS: Mapping[str, Sequence[Callable[[str], Chart]]] = {
    "test/bench/workqueue/bench_queue.py": (_queues("one thread, distinct keys"), _queues("4 workers, distinct keys")),
    "test/bench/wire/bench_wire.py": (_watch,),
    "test/bench/wire/bench_latency.py": (_latency,),
    "test/bench/cache/bench_pipeline.py": (_pipeline,),
}


def as_json(charts: Sequence[Chart]) -> list[dict[str, Any]]:
    """Return charts as they are stored."""
    return [chart._asdict() for chart in charts]
