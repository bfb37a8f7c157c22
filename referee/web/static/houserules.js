// House rules as data: a preset and the differences from it; as a file's text, and the rules that are on.
"use strict";
const HouseRules = (() => {
  const catalogue = JSON.parse(document.getElementById("editor").dataset.catalogue);
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  // `said` has the form of a log's first line: base, on, off, set; or only a preset's name.
  const whole = (said) => {
    const raw = typeof said === "string" ? { base: said } : said;
    return { base: raw.base ?? "classic", on: [...(raw.on ?? [])], off: [...(raw.off ?? [])], set: { ...raw.set } };
  };
  const preset = (name) => catalogue.presets[name];
  const usual = (base, row) => preset(base).set[row] ?? catalogue.defaults[row];
  const value = (rules, row) => rules.set[row] ?? usual(rules.base, row);

  const without = (rows, on) => {
    const rivals = new Set(on.flatMap((row) => catalogue.rivals[row] ?? []));
    return rows.filter((row) => !rivals.has(row));
  };
  // The rules that are on: switching one on switches off those that it excludes.
  const rows = (rules) => {
    const found = new Set([...without(preset(rules.base).on, rules.on), ...rules.on]);
    if ("S3" in rules.set) found.add("S3");
    for (const row of rules.off) found.delete(row);
    return found;
  };
  const withRows = (rules, wanted) => {
    const base = preset(rules.base).on;
    const on = [...wanted].filter((row) => !base.includes(row));
    const off = without(base, on).filter((row) => !wanted.has(row));
    const set = { ...rules.set };
    if (!wanted.has("S3")) delete set.S3;
    return { ...rules, on, off, set };
  };
  const switched = (rules, row, on) => {
    const wanted = rows(rules);
    if (on) for (const rival of catalogue.rivals[row] ?? []) wanted.delete(rival);
    if (on) wanted.add(row);
    else wanted.delete(row);
    return withRows(rules, wanted);
  };
  const valued = (rules, row, now) => {
    const set = { ...rules.set, [row]: now };
    if (now === null || same(now, usual(rules.base, row))) delete set[row];
    return { ...rules, set };
  };

  // From the preset that the rules began with, or from another one.
  const differences = (rules, from = rules.base) => {
    const base = new Set(preset(from).on);
    const now = rows(rules);
    return {
      on: [...now].filter((row) => !base.has(row)),
      off: [...base].filter((row) => !now.has(row)),
      values: Object.keys({ ...preset(rules.base).set, ...rules.set })
        .filter((row) => now.has(row) && !same(value(rules, row), usual(from, row))),
    };
  };
  // Rules that go well with the preset and are off.
  const offered = (rules) => preset(rules.base).options.filter((row) => !rows(rules).has(row));
  const isPreset = (rules) => !rules.on.length && !rules.off.length && !Object.keys(rules.set).length;

  const toml = (one) => {
    if (Array.isArray(one)) return `[${one.map(toml).join(", ")}]`;
    if (one && typeof one === "object") return `{ ${Object.entries(one).map(([key, inner]) => `${key} = ${toml(inner)}`).join(", ")} }`;
    return JSON.stringify(one);
  };
  // Rule by rule, each by its name with its id behind it.
  const list = (key, ids) =>
    ids.length ? [`${key} = [`, ...ids.map((row) => `    "${catalogue.names[row]}",  # ${row}`), "]"] : [];
  const written = (title, rules) => {
    const { P19: patterns, ...values } = rules.set;
    const lines = [`title = ${JSON.stringify(title)}`, `base = ${JSON.stringify(rules.base)}`,
      ...list("on", rules.on), ...list("off", rules.off)];
    if (Object.keys(values).length) lines.push("", "[set]");
    for (const [row, now] of Object.entries(values)) lines.push(`${catalogue.names[row]} = ${toml(now)}  # ${row}`);
    if (Object.keys(patterns ?? {}).length) lines.push("", "[patterns]");
    for (const [name, text] of Object.entries(patterns ?? {})) lines.push(`${JSON.stringify(name)} = ${JSON.stringify(text)}`);
    return `${lines.join("\n")}\n`;
  };

  return { whole, value, usual, rows, switched, valued, differences, offered, isPreset, written };
})();
