// The state of the live tour's page in its address, behind the #: informer, queue, language, tab and selection.
//
//   #live?informer=2&queue=3&lang=zh&tab=past&key=default/apple&place=indexer.objects&of=default/apple&version=12
//
// The numbers count from 1. `key`: only that object's hops are listed. `object`: the state that the object's tab shows.
// `place`, `of`, `handler`, `version` and `queued`: the key whose past is shown; `queued` is a notification's time. All
// may be missing. The informers and queues of a program that was started again may have other numbers: one that is not
// there is shown as soon as it is.

import { TABS, readable } from "/page/address.js";

const PAST = [["place", "place"], ["of", "key"], ["handler", "handler"], ["version", "version"], ["queued", "queued"]];

export function toLiveHash({ informer, queue, language, tab, key, ref, station, chosen }) {
  const query = new URLSearchParams();
  if (informer > 0) query.set("informer", informer + 1);
  if (queue > 0) query.set("queue", queue + 1);
  query.set("lang", language);
  if (TABS.includes(tab)) query.set("tab", tab);
  if (key) query.set("key", key);
  if (tab === "object" && ref) query.set("object", ref);
  if (tab === "source" && station) query.set("station", station);
  if (tab === "past") for (const [word, field] of PAST) if (chosen?.[field]) query.set(word, chosen[field]);
  return `#live?${readable(query)}`;
}

export function fromLiveHash(hash, stations) {
  const query = new URLSearchParams(hash.split(/\?(.*)/s)[1] ?? "");
  const number = (word) => (/^[1-9]\d{0,3}$/.test(query.get(word) ?? "") ? Number(query.get(word)) - 1 : 0);
  const of = query.get("of");
  return {
    informer: number("informer"),
    queue: number("queue"),
    language: ["en", "zh"].includes(query.get("lang")) ? query.get("lang") : "",
    tab: TABS.includes(query.get("tab")) ? query.get("tab") : "lesson",
    key: query.get("key") ?? "",
    ref: query.get("object") ?? "",
    station: stations.includes(query.get("station")) ? query.get("station") : "",
    chosen: of ? Object.fromEntries(PAST.map(([word, field]) => [field, query.get(word) ?? ""])) : undefined,
  };
}
