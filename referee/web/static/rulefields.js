// The editor's form: puts house rules into its fields, and reads a row's value out of them.
"use strict";
const RuleFields = (() => {
  const form = document.getElementById("form");
  const parts = (holder) =>
    Object.fromEntries([...holder.querySelectorAll("[data-part]")].map((field) => [field.dataset.part, field]));
  const number = (field) => (field.value === "" ? null : Number(field.value));
  const lines = () => [...document.querySelectorAll("#patterns .pattern")];

  // M6 is set by a number of ms, by the players who must touch, or by both.
  const forehead = (value, usual) => {
    if (Array.isArray(value)) return value;
    return typeof value === "number" ? [value, "all"] : [usual, value];
  };
  const readers = {
    number: ({ n }) => number(n),
    choice: ({ n }) => JSON.parse(n.value),
    rank: ({ n }) => JSON.parse(n.value),
    chances: ({ A, K, Q, J }) => ({ A: number(A), K: number(K), Q: number(Q), J: number(J) }),
    run: ({ n, ace, wrap }) => ({ n: number(n), ace: JSON.parse(ace.value), wrap: wrap.checked }),
    anticipation: ({ ms, is }) => [number(ms), JSON.parse(is.value)],
    forehead: ({ ms, who }) => (who.value === '"all"' ? number(ms) : [number(ms), JSON.parse(who.value)]),
    agreed_end: ({ n, unit }) => ({ [JSON.parse(unit.value)]: number(n) }),
    seats: ({ seats }) => {
      const said = seats.value.split(",").map((seat) => seat.trim()).filter((seat) => seat);
      return said.length ? said.map(Number) : null;
    },
    patterns: () => {
      const said = lines().map(parts).filter(({ name, text }) => name.value || text.value);
      return said.length ? Object.fromEntries(said.map(({ name, text }) => [name.value, text.value])) : null;
    },
  };
  const addPattern = (name = "", text = "") => {
    const line = document.getElementById("pattern-line").content.firstElementChild.cloneNode(true);
    const fields = parts(line);
    fields.name.value = name;
    fields.text.value = text;
    document.getElementById("patterns").append(line);
    return line;
  };
  const writers = {
    number: ({ n }, value) => (n.value = value),
    choice: ({ n }, value) => (n.value = JSON.stringify(value)),
    rank: ({ n }, value) => (n.value = JSON.stringify(value ?? null)),
    chances: (fields, value) => Object.entries(value).forEach(([rank, chances]) => (fields[rank].value = chances)),
    run: ({ n, ace, wrap }, value, usual) => {
      const said = { ...usual, ...(typeof value === "string" ? { ace: value } : value) };
      [n.value, ace.value, wrap.checked] = [said.n, JSON.stringify(said.ace), said.wrap];
    },
    anticipation: ({ ms, is }, value) => ([ms.value, is.value] = [value[0], JSON.stringify(value[1])]),
    forehead: ({ ms, who }, value, usual) => {
      const [time, whose] = forehead(value, usual);
      [ms.value, who.value] = [time, JSON.stringify(whose)];
    },
    agreed_end: ({ n, unit }, value) => {
      const [[said, count]] = Object.entries(value);
      [n.value, unit.value] = [count, JSON.stringify(said)];
    },
    seats: ({ seats }, value) => (seats.value = value.join(", ")),
    patterns: (_, value) => {
      lines().forEach((line) => line.remove());
      Object.entries(value).forEach(([name, text]) => addPattern(name, text));
    },
  };

  const holderOf = (row) => form.querySelector(`[data-value="${row}"]`);
  const read = (row) => {
    const holder = holderOf(row);
    return readers[holder.dataset.kind](parts(holder));
  };
  // Keep the text of the field in which a person is typing.
  const fill = (rules, { switchesOnly = false } = {}) => {
    const on = HouseRules.rows(rules);
    for (const box of form.querySelectorAll("[data-switch]")) box.checked = on.has(box.dataset.switch);
    for (const group of form.querySelectorAll(".rulegroup")) {
      const boxes = [...group.querySelectorAll("[data-switch]")];
      const fields = { on: boxes.filter((box) => box.checked).length, all: boxes.length };
      group.querySelector("summary small").textContent = Words.text("rules.on_of", fields);
    }
    for (const holder of form.querySelectorAll("[data-value]")) {
      const row = holder.dataset.value;
      holder.hidden = !on.has(row);
      if (!switchesOnly) {
        writers[holder.dataset.kind](parts(holder), HouseRules.value(rules, row), HouseRules.usual(rules.base, row));
      }
    }
  };

  const words = (row) => form.querySelector(`[data-row="${row}"] .says`).textContent;
  // A value as it is shown beside the rule.
  const shown = (row, value) => {
    const kind = holderOf(row).dataset.kind;
    const own = (one) => Words.text(`value.${kind === "run" ? kind : row}.${one}`);
    if (kind === "number") return `${value}${holderOf(row).querySelector("label").lastChild.textContent}`;
    if (kind === "choice") return own(value);
    if (kind === "rank") return value ? value.replace("T", "10") : own("drawn");
    if (kind === "chances") return Object.entries(value).map(([rank, chances]) => `${rank} ${chances}`).join(", ");
    if (kind === "run") {
      const said = { ...HouseRules.usual("classic", row), ...(typeof value === "string" ? { ace: value } : value) };
      return [said.n, own(said.ace), ...(said.wrap ? [own("wrap")] : [])].join(", ");
    }
    if (kind === "anticipation") return `${value[0]} ms, ${own(value[1])}`;
    if (kind === "forehead") {
      const [ms, who] = forehead(value, HouseRules.usual("classic", row));
      return `${ms} ms, ${own(who)}`;
    }
    if (kind === "agreed_end") return Object.entries(value).map(([unit, n]) => `${n} ${own(unit)}`).join(", ");
    if (kind === "seats") return value.join(", ") || "–";
    return Object.keys(value).join(", ") || "–";
  };

  return { form, read, fill, words, shown, addPattern };
})();
