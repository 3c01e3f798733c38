"""Poll a live tour in a separate process, like a browser with live.js, and assemble its state.

    python test/bench/tour/looker.py ADDRESS INFORMERS

It prints what it found, as JSON, when its input ends. With the standard library alone, so that it starts at once.
"""

from __future__ import annotations

import http.client
import json
import select
import sys
from time import perf_counter, process_time
from urllib.parse import parse_qs, urlencode, urlsplit

# As in live.js, in seconds.
PERIOD = 0.06
PATIENCE = 600.0


def main(address: str, informers: int) -> None:
    # One that stays, as a browser has it.
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {parse_qs(parts.query)['token'][0]}"}
    last, look, number, size = -1, 0, 0, 0
    seen: dict[str, object] = {}
    took: list[float] = []
    updates: list[float] = []
    began_all, spent = perf_counter(), process_time()
    while not select.select([sys.stdin], [], [], max(0.0, PERIOD - took[-1]) if took else 0.0)[0]:
        began = perf_counter()
        # Select another informer every second, like a user who explores the page.
        query = {"informer": int(began - began_all) % informers, "since": last, "after": look}
        connection.request("GET", f"/api/live?{urlencode(query)}", headers=headers)
        with connection.getresponse() as response:
            text = response.read()
        answer = json.loads(text)
        views = {**seen.get("views", {}), **answer["views"]}  # type: ignore[dict-item]
        seen = {**seen, **answer, "views": views}
        last, look, number, size = answer["last"], answer.get("look", 0), number + 1, size + len(text)
        updates.append(perf_counter())
        took.append(updates[-1] - began)
    gaps = [after - before for before, after in zip([began_all, *updates], updates)]
    elapsed = perf_counter() - began_all
    found = {
        "rate": len(took) / elapsed,
        "looks": len(took),
        "took": sorted(took),
        "worst": max(gaps),
        "cpu": (process_time() - spent) / max(1, len(took)),
        "bytes": size / max(1, len(took)),
        "calls": seen.get("calls", 0),
        "skipped": seen.get("skipped", 0),
        "views": len(seen.get("views", ())),  # type: ignore[arg-type]
    }
    connection.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
