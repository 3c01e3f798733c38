// A driver in JavaScript, as a start for your own: golden/workqueue/queue.jsonl, golden/cache/heap.jsonl, and three files
// of machines/.
//
//     python3 run.py golden/workqueue/queue.jsonl machines/rate_limiting_queue_machine.jsonl -- node driver.js
"use strict";

const readline = require("readline");

// A work queue: an item that is being processed waits until it is done. It has no shut_down_with_drain; the runner
// counts cases with that operation as skipped.
class Queue {
  constructor() {
    this.ready = [];
    this.dirty = new Set();
    this.processing = new Set();
    this.shuttingDown = false;
  }

  state(more) {
    return { len: this.ready.length, shutting_down: this.shuttingDown, ...more };
  }

  run(op, { item }) {
    switch (op) {
      case "len":
        return this.state();
      case "add":
        if (!this.shuttingDown && !this.dirty.has(item)) {
          this.dirty.add(item);
          if (!this.processing.has(item)) this.ready.push(item);
        }
        return this.state();
      case "get": {
        if (this.ready.length === 0) return this.state({ item: null, shutdown: true });
        const got = this.ready.shift();
        this.processing.add(got);
        this.dirty.delete(got);
        return this.state({ item: got, shutdown: false });
      }
      case "done":
        this.processing.delete(item);
        if (this.dirty.has(item)) this.ready.push(item);
        return this.state();
      case "shut_down":
        this.shuttingDown = true;
        return this.state();
    }
  }
}

// A queue with delays, rate limits and gets that block, for machines/. Time is virtual.
class MachineQueue {
  constructor({ base_ms, limit_ms }) {
    this.base = base_ms;
    this.limit = limit_ms;
    this.ready = [];
    this.dirty = new Set();
    this.processing = new Set();
    this.waiting = new Map();
    this.failures = new Map();
    this.now = 0;
    this.blockedGets = 0;
    this.shuttingDown = false;
    this.draining = false;
  }

  add(item) {
    if (this.shuttingDown || this.dirty.has(item)) return;
    this.dirty.add(item);
    if (!this.processing.has(item)) this.ready.push(item);
  }

  addAfter(item, delay) {
    if (this.shuttingDown) return;
    if (delay <= 0) this.add(item);
    else this.waiting.set(item, Math.min(this.now + delay, this.waiting.get(item) ?? Infinity));
  }

  sleep(ms) {
    const until = this.now + ms;
    const due = [...this.waiting].filter(([, at]) => at <= until).sort((a, b) => a[1] - b[1]);
    for (const [item, at] of due) {
      this.now = at;
      this.waiting.delete(item);
      this.add(item);
      this.handOut();
    }
    this.now = until;
  }

  handOut() {
    while (this.blockedGets > 0 && (this.ready.length > 0 || this.shuttingDown)) {
      this.blockedGets--;
      const item = this.ready.shift() ?? null;
      if (item !== null) {
        this.dirty.delete(item);
        this.processing.add(item);
      }
      this.handedOut.push(item);
    }
  }

  run(op, args) {
    this.handedOut = [];
    switch (op) {
      case "add":
        this.add(args.item);
        break;
      case "get":
        this.blockedGets++;
        break;
      case "done":
        this.processing.delete(args.item);
        if (this.dirty.has(args.item)) this.ready.push(args.item);
        break;
      case "add_after":
        this.addAfter(args.item, args.delay_ms);
        break;
      case "add_rate_limited": {
        const failures = this.failures.get(args.item) ?? 0;
        this.failures.set(args.item, failures + 1);
        this.addAfter(args.item, Math.min(this.base * 2 ** failures, this.limit));
        break;
      }
      case "forget":
        this.failures.delete(args.item);
        break;
      case "sleep":
        this.sleep(args.ms);
        break;
      case "shut_down":
      case "shut_down_with_drain":
        this.shuttingDown = true;
        this.draining = op === "shut_down_with_drain";
        break;
      default:
        return undefined;
    }
    this.handOut();
    return {
      handed_out: this.handedOut,
      len: this.ready.length,
      blocked_gets: this.blockedGets,
      shutting_down: this.shuttingDown,
      is_draining: this.draining && this.processing.size > 0,
      ...(this.base === undefined ? {} : { failures: Object.fromEntries(this.failures) }),
    };
  }
}

// A heap by v, then by key.
class Heap {
  constructor() {
    this.objects = new Map();
    this.closed = false;
  }

  key(object) {
    return object.ns ? `${object.ns}/${object.name}` : object.name;
  }

  keys() {
    return [...this.objects.keys()].sort();
  }

  // A plain string and other values without metadata have no key.
  keyError(object) {
    if (object.name !== undefined) return null;
    return { kind: "key_error", inner: "object has no meta: object does not implement the Object interfaces" };
  }

  put(object, replace) {
    const error = this.keyError(object);
    if (error) return error;
    if (this.closed) return { kind: "error", message: "heap is closed" };
    if (replace || !this.objects.has(this.key(object))) this.objects.set(this.key(object), object);
    return null;
  }

  run(op, { object, objects }) {
    let error = null;
    switch (op) {
      case "add":
      case "update":
        error = this.put(object, true);
        return { error, keys: this.keys() };
      case "add_if_not_present":
        error = this.put(object, false);
        return { error, keys: this.keys() };
      case "bulk_add":
        if (this.closed) return { error: { kind: "error", message: "heap is closed" }, keys: this.keys() };
        for (const each of objects) {
          error = this.put(each, true);
          if (error) break;
        }
        return { error, keys: this.keys() };
      case "delete":
        error = this.keyError(object);
        if (!error && !this.objects.delete(this.key(object))) error = { kind: "error", message: "object not found" };
        return { error, keys: this.keys() };
      case "get": {
        error = this.keyError(object);
        const found = this.objects.get(this.key(object));
        return { error, exists: found !== undefined, object: found === undefined ? null : found };
      }
      case "pop": {
        const less = (a, b) => (a.v < b.v ? -1 : a.v > b.v ? 1 : this.key(a) < this.key(b) ? -1 : 1);
        const first = [...this.objects.values()].sort(less)[0];
        if (first === undefined) return { error: { kind: "error", message: "heap is closed" }, keys: [], object: null };
        this.objects.delete(this.key(first));
        return { error, keys: this.keys(), object: first };
      }
      case "list": {
        const order = (a, b) => (a.ns || "") < (b.ns || "") ? -1 : (a.ns || "") > (b.ns || "") ? 1 : a.name < b.name ? -1 : 1;
        return { objects: [...this.objects.values()].sort(order) };
      }
      case "close":
        this.closed = true;
        return { is_closed: true, keys: this.keys() };
    }
  }
}

let current;

function answer(message) {
  if (message.begin !== undefined) {
    const kinds = {
      "queue.jsonl": Queue,
      "heap.jsonl": Heap,
      "queue_machine.jsonl": MachineQueue,
      "delaying_queue_machine.jsonl": MachineQueue,
      "rate_limiting_queue_machine.jsonl": MachineQueue,
    };
    const kind = kinds[message.file];
    if (kind === undefined) return { skip: `no driver for ${message.file}` };
    current = new kind(message.config);
    return {};
  }
  if (message.end !== undefined) return {};
  const result = current.run(message.op, message.args);
  return result === undefined ? { skip: `no operation ${message.op}` } : { result };
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id: message.id, ...answer(message) }) + "\n");
});
