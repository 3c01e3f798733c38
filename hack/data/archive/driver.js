// A driver in JavaScript for two files, as a start for your own: golden/workqueue/queue.jsonl and golden/cache/heap.jsonl.
//
//     python3 run.py golden/workqueue/queue.jsonl golden/cache/heap.jsonl -- node driver.js
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
    const kinds = { "queue.jsonl": Queue, "heap.jsonl": Heap };
    const kind = kinds[message.file];
    if (kind === undefined) return { skip: `no driver for ${message.file}` };
    current = new kind();
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
