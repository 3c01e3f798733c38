#!/usr/bin/env node
// Sends the sequences of conformance/server_cases/ to a running API server and compares its responses. Without packages.
//
//     node replay.js --server http://127.0.0.1:8080 --token TOKEN [--only NAME] conformance/server_cases/errors.json
//
// A shorter form of conformance/replay_cases.py for readers of JavaScript: a value that the server chooses (uid0, rv3,
// $T) matches any value of its form, and the same one for the rest of the sequence. Sequences with a watch beside
// other requests are skipped. JavaScript's numbers cannot carry the largest integers of errors.json. Exit status: 0 if all compared responses agree and there was at least one, 1 if not.
"use strict";

const fs = require("fs");
const http = require("http");
const https = require("https");

const HEADERS = ["content-type", "warning", "allow", "retry-after", "www-authenticate", "location"];
const FORMS = {
  uid: "[0-9a-f-]{36}",
  rv: "\\d+",
  $GEN: "[a-z0-9]{5}",
  $T: "20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)",
  $IP: "10\\.\\d+\\.\\d+\\.\\d+",
  $AGE: "(?:\\d+[smhd])+|<invalid>",
  $PORT: "3[0-2]\\d{3}",
  $RV: "\\d+",
  $ANY: "[a-z0-9]{5}",
};
const PLACEHOLDER = /\$(?:GEN\d+|T\d?(?![A-Za-z])|IP|AGE|PORT|RV|ANY|CONTINUE|TOKEN|HASH|DUMP|OBJECT|NS|SERVER)|\b(?:uid|rv)\d+(?:\.\d+)?<?/g;

// The values that the server has chosen in one sequence.
class Bindings {
  constructor(known) {
    this.known = new Map(Object.entries(known));
  }

  pattern(name) {
    const form = FORMS[name.replace(/[\d.<]+$/, "")];
    return form === undefined ? "[^]*" : form;
  }

  // Compare a text with placeholders, and remember what they stand for.
  match(want, got) {
    const names = [];
    let source = "";
    let at = 0;
    for (const { 0: name, index } of want.matchAll(PLACEHOLDER)) {
      source += escaped(want.slice(at, index));
      at = index + name.length;
      if (this.known.has(name)) {
        source += escaped(this.known.get(name));
      } else {
        names.push(name);
        source += `(${this.pattern(name)})`;
      }
    }
    const found = new RegExp(`^${source}${escaped(want.slice(at))}$`).exec(got);
    if (found === null) return false;
    names.forEach((name, index) => {
      if (/^(?:uid|rv|\$GEN)/.test(name)) this.known.set(name, found[index + 1]);
    });
    return true;
  }
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function dig(value, path) {
  for (const key of path === "" ? [] : path.split(".")) value = value?.[key.replaceAll("~1", ".")];
  return value ?? null;
}

// RFC 7386.
function merge(target, patch) {
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
  const isObject = target !== null && typeof target === "object" && !Array.isArray(target);
  const out = isObject ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = merge(out[key], value);
  }
  return out;
}

function byManager(entries) {
  const key = (entry) => ["operation", "manager", "apiVersion", "subresource"].map((name) => entry[name] ?? "").join("\n");
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

function isPeriodic(event) {
  return event?.type === "BOOKMARK" && !JSON.stringify(event).includes("k8s.io/initial-events-end");
}

// Return the first place at which two values differ, or null.
function difference(want, got, bindings, place = "") {
  if (typeof want === "string") {
    if (place.endsWith("metadata.resourceVersion") && want.startsWith("list")) {
      return typeof got === "string" ? null : place;
    }
    if (want === "$PORT" && typeof got === "number") return null;
    return typeof got === "string" && bindings.match(want, got) ? null : `${place}: want ${want} got ${JSON.stringify(got)}`;
  }
  if (want === null || typeof want !== "object") return want === got ? null : `${place}: want ${want} got ${JSON.stringify(got)}`;
  if (got === null || typeof got !== "object" || Array.isArray(want) !== Array.isArray(got)) return `${place}: another type`;
  if (Array.isArray(want)) {
    if (want.length !== got.length) return `${place}: want ${want.length} items, got ${got.length}`;
    if (place.endsWith("managedFields")) [want, got] = [byManager(want), byManager(got)];
    for (let index = 0; index < want.length; index++) {
      const found = difference(want[index], got[index], bindings, `${place}[${index}]`);
      if (found !== null) return found;
    }
    return null;
  }
  for (const key of Object.keys(want)) {
    // A name in a key is one that was chosen before, such as a label or a field that has one.
    const name = key.replace(PLACEHOLDER, (each) => bindings.known.get(each) ?? each);
    if (!(name in got)) return `${place}.${key} is absent`;
    const found = difference(want[key], got[name], bindings, `${place}.${key}`);
    if (found !== null) return found;
  }
  return Object.keys(got).length > Object.keys(want).length ? `${place}: more keys than ${Object.keys(want)}` : null;
}

class Sequence {
  constructor(server, token, testcase) {
    this.server = new URL(server);
    this.token = token;
    this.case = testcase;
    this.namespace = `rc${Math.random().toString(36).slice(2, 8).padEnd(6, "x")}`;
    this.answers = [];
    this.bindings = new Bindings({ $NS: this.namespace, $SERVER: this.server.host });
  }

  fill(value) {
    if (typeof value === "string") {
      return value
        .replaceAll("$NS", this.namespace)
        .replace(/\$\{(\d+):([^}]*)\}/g, (_, number, path) => {
          const answer = this.answers[number];
          return String(dig(answer.events ?? answer.body, path) ?? "missing");
        });
    }
    if (Array.isArray(value)) return value.map((each) => this.fill(each));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [this.fill(key), this.fill(each)]));
  }

  request(method, path, body, headers = {}) {
    const sent = { "User-Agent": "replay/1.0", Accept: "application/json", Authorization: `Bearer ${this.token}`, ...headers };
    for (const name of Object.keys(sent)) if (sent[name] === null) delete sent[name];
    const data = body === undefined ? undefined : Buffer.from(body);
    if (data !== undefined) sent["Content-Length"] = data.length;
    const url = path.replace(/[^\w/?&=%:,+!*'();@$~#[\]\-.]/gu, encodeURIComponent);
    const library = this.server.protocol === "https:" ? https : http;
    const { hostname: host, port } = this.server;
    return new Promise((resolve, reject) => {
      const request = library.request({ host, port, method, path: url, headers: sent, agent: false }, (response) => {
        const pieces = [];
        response.on("data", (piece) => pieces.push(piece));
        response.on("error", reject);
        response.on("end", () => resolve(new Answer(response, Buffer.concat(pieces).toString("utf8"))));
      });
      request.on("error", reject);
      request.end(data);
    });
  }

  async step(step) {
    if (step.pause) await new Promise((resolve) => setTimeout(resolve, step.pause * 1000));
    const headers = this.fill(step.headers ?? {});
    let body;
    if (step.base) body = JSON.stringify(merge(this.answers[step.base[0]].body ?? {}, this.fill(step.base[1])));
    else if ("body" in step) body = JSON.stringify(this.fill(step.body));
    else if ("raw" in step) body = this.fill(step.raw);
    if (body !== undefined && !("Content-Type" in headers)) headers["Content-Type"] = "application/json";
    const deadline = Date.now() + 60000;
    for (;;) {
      const answer = await this.request(step.method, this.fill(step.path), body, headers);
      if (!step.until || this.holds(step.until, answer) || Date.now() > deadline) {
        if (step.watch && answer.code === 200) answer.readEvents();
        return answer;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  holds(until, answer) {
    if ("code" in until && answer.code !== until.code) return false;
    if ("has" in until) {
      const found = [dig(answer.body, until.at) ?? []].flat();
      return found.some((entry) => Object.entries(until.has).every(([key, value]) => entry[key] === value));
    }
    return !("equals" in until) || dig(answer.body, until.at) === until.equals;
  }

  compare(step, answer) {
    const { want } = step;
    if (answer.code !== want.code) return `code: want ${want.code} got ${answer.code}`;
    const heads = difference(want.headers ?? {}, answer.headers(), this.bindings, "headers");
    if (heads !== null) return heads;
    if (want.text === "$BINARY") return null;
    if ("text" in want) return difference(want.text, answer.text, this.bindings, "text");
    if ("events" in want) return difference(want.events, (answer.events ?? []).filter((each) => !isPeriodic(each)), this.bindings, "events");
    if (!("body" in want)) return null;
    if (step.unordered) return this.compareCauses(want.body, answer.body);
    return difference(want.body, answer.body, this.bindings, "body");
  }

  compareCauses(want, got) {
    const texts = (body) => (body?.details?.causes ?? []).map((cause) => JSON.stringify(cause)).sort();
    return difference(texts(want), texts(got), this.bindings, "causes");
  }

  // Return the number of responses that agree, and the differences.
  async run() {
    const labels = { replay: "case", ...this.case.labels };
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: this.namespace, labels } };
    const json = { "Content-Type": "application/json" };
    await this.request("POST", "/api/v1/namespaces", JSON.stringify(namespace), json);
    for (let left = 100; left > 0; left--) {
      const account = await this.request("GET", `/api/v1/namespaces/${this.namespace}/serviceaccounts/default`);
      if (account.code === 200) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const differences = [];
    let agreed = 0;
    for (const [number, step] of this.case.steps.entries()) {
      const answer = await this.step(step);
      this.answers.push(answer);
      if (!("want" in step)) continue;
      const found = this.compare(step, answer);
      if (found === null) agreed++;
      else differences.push(`${this.case.name}#${number} ${step.method} ${step.path}: ${found}`);
    }
    const strip = { "Content-Type": "application/merge-patch+json" };
    for (const path of [...(this.case.unfinish ?? []), ...(this.case.cleanup ?? [])]) {
      if ((this.case.cleanup ?? []).includes(path)) await this.request("DELETE", this.fill(path));
      await this.request("PATCH", this.fill(path), '{"metadata":{"finalizers":null}}', strip);
    }
    await this.request("DELETE", `/api/v1/namespaces/${this.namespace}`);
    return { agreed, differences };
  }
}

class Answer {
  constructor(response, text) {
    this.code = response.statusCode;
    this.raw = response.rawHeaders;
    this.text = text;
    this.events = null;
    this.body = null;
    if ((response.headers["content-type"] ?? "").includes("json")) {
      try {
        this.body = JSON.parse(text);
      } catch {
        this.body = null;
      }
    }
  }

  headers() {
    const found = {};
    for (let index = 0; index < this.raw.length; index += 2) {
      const name = this.raw[index].toLowerCase();
      if (HEADERS.includes(name)) (found[name] ??= []).push(this.raw[index + 1]);
    }
    return found;
  }

  readEvents() {
    this.events = this.text.split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
  }
}

async function main(words) {
  const options = { "--server": "", "--token": "", "--only": "" };
  const files = [];
  while (words.length > 0) {
    const word = words.shift();
    if (word in options) options[word] = words.shift() ?? "";
    else files.push(word);
  }
  if (options["--server"] === "" || files.length === 0) {
    process.stderr.write("usage: node replay.js --server URL --token TOKEN [--only NAME] FILE.json...\n");
    return 2;
  }
  let agreed = 0;
  let differ = 0;
  let skipped = 0;
  for (const file of files) {
    for (const testcase of JSON.parse(fs.readFileSync(file, "utf8")).cases) {
      if (!testcase.name.includes(options["--only"])) continue;
      if (testcase.steps.some((step) => "open" in step || "close" in step)) {
        skipped++;
        continue;
      }
      const result = await new Sequence(options["--server"], options["--token"], testcase).run();
      agreed += result.agreed;
      differ += result.differences.length;
      for (const line of result.differences) process.stdout.write(`DIFF ${line}\n`);
    }
  }
  process.stdout.write(`${agreed} responses agree, ${differ} differ, ${skipped} sequences skipped\n`);
  return agreed > 0 && differ === 0 ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (status) => {
    process.exitCode = status;
  },
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  },
);
