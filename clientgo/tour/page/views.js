// Checks a station's view against the schema that the server sends (viewschema.py), before it is drawn.

export function viewError(schema, station, view) {
  const fields = schema[station];
  if (!fields) return `there is no station ${station}`;
  if (!isObject(view)) return `${station} is no object`;
  if (!Object.keys(view).length) return "";
  const facts = { "facts?": { list: "fact" } };
  if (view.informers) {
    // An informer that has nothing there yet has its kind alone.
    const some = Array.isArray(view.informers) ? view.informers.filter((each) => !isObject(each) || Object.keys(each).join() !== "kind") : view.informers;
    return mismatch({ fields: { informers: { list: { fields: { ...fields, kind: "text" } } }, ...facts } }, { ...view, informers: some }, station);
  }
  return mismatch({ fields: { ...fields, ...facts } }, view, station);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const PLAIN = {
  text: (value) => typeof value === "string",
  flag: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  fact: (value) => Array.isArray(value) && value.length === 2 && typeof value[0] === "string",
};

function mismatch(kind, value, place) {
  if (typeof kind === "string") return PLAIN[kind](value) ? "" : `${place} is no ${kind}`;
  const [[form, inner]] = Object.entries(kind);
  if (form === "or-null") return value === null ? "" : mismatch(inner, value, place);
  if (form === "list") return Array.isArray(value) ? first(value.map((each, number) => [inner, each, `${place}[${number}]`])) : `${place} is no list`;
  if (!isObject(value)) return `${place} is no object`;
  if (form === "map") return first(Object.entries(value).map(([name, each]) => [inner, each, `${place}.${name}`]));
  for (const [name, type] of Object.entries(inner)) {
    const plain = name.replace(/\?$/, "");
    if (!Object.hasOwn(value, plain)) {
      if (plain === name) return `${place}.${name} is missing`;
      continue;
    }
    const error = mismatch(type, value[plain], `${place}.${plain}`);
    if (error) return error;
  }
  return "";
}

function first(parts) {
  for (const part of parts) {
    const error = mismatch(...part);
    if (error) return error;
  }
  return "";
}
