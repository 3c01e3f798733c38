// The static edition's source of states: scripts at data/NAME.js, written by clientgo/tour/export.py. See source.js.

// A script is the one kind of file that a page at a `file:` address may load.
function loader() {
  const loading = new Map();
  globalThis.tourExport = (name, data) => loading.get(name).arrived(data);
  return (name) => {
    if (!loading.has(name)) {
      const entry = {};
      entry.value = new Promise((resolve, reject) => {
        entry.arrived = (data) => resolve(unpack(data));
        const script = document.createElement("script");
        script.onerror = () => reject(new Error(`data/${name}.js is missing`));
        script.src = `data/${name}.js`;
        document.head.append(script);
      });
      loading.set(name, entry);
    }
    return loading.get(name).value;
  };
}

async function unpack(data) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  return JSON.parse(text);
}

// Values from entries in which `[number]` stands for another entry. Equal values are one value.
function reader(entries) {
  const made = [];
  const value = (each) => (Array.isArray(each) ? entry(each[0]) : each);
  const entry = (number) => {
    if (!(number in made)) {
      const of = entries[number];
      made[number] = Array.isArray(of) ? of.map(value) : Object.fromEntries(Object.entries(of).map(([name, each]) => [name, value(each)]));
    }
    return made[number];
  };
  return value;
}

// Settings that are the scenario's own count as none.
const keyOf = (known, settings, decisions) => JSON.stringify([
  Object.keys(known).sort().map((name) => settings[name] ?? known[name]),
  decisions.map(({ at, kind, name }) => [at, kind, name]),
]);

const unavailable = () => Object.assign(new Error("the static edition has no such run; clientgo tour has them all"), { isUnavailable: true });

export function exported() {
  const load = loader();
  const about = load("tour");
  const scenarioOf = async (name) => (await about).scenarios.find((each) => each.name === name);
  const lessonOf = async (scenario) => (await about).lessons.find((each) => each.scenario === scenario).name;
  const books = new Map();

  // All runs of a lesson by their keys; with those that break only when `broken`.
  async function book(scenario, broken) {
    const name = await lessonOf(scenario);
    const file = broken ? `${name}-breaks` : name;
    if (books.has(file)) return books.get(file);
    const [first, second, { settings: known }] = await Promise.all([load(name), broken ? load(file) : { entries: [], runs: [] }, scenarioOf(scenario)]);
    const value = reader([...first.entries, ...second.entries]);
    const runs = new Map([...first.runs, ...second.runs].map((run) => [keyOf(known, run.settings, run.decisions), run.trace]));
    books.set(file, { known, value, runs });
    return books.get(file);
  }

  return {
    isExported: true,
    tour: () => about,
    lesson: async (name) => (await load(name)).lesson,
    run: async ({ scenario, settings, decisions }) => {
      const { known, value, runs } = await book(scenario, decisions.length > 0);
      const trace = runs.get(keyOf(known, settings, decisions));
      if (!trace) throw unavailable();
      return { scenario, settings, decisions, ...value(trace) };
    },
    code: async ({ file, function: name }) => (await load("sources")).find((each) => each.file === file && each.function === name) ?? null,
    recorded: async () => ({ hops: [] }),
    offers: async (scenario, settings) => {
      const { known } = await book(scenario, false);
      const { offers } = await load(await lessonOf(scenario));
      return offers.filter((each) => keyOf(known, each.settings, []) === keyOf(known, settings, []));
    },
    // Report whether there is a run of these settings.
    hasMachine: async (scenario, settings) => {
      const { known, runs } = await book(scenario, false);
      return runs.has(keyOf(known, settings, []));
    },
  };
}
