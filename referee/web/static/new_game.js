// A new game: players, rules and dealer; or the same once more.
"use strict";
const Beginning = (() => {
  const { text, say } = Words;
  const { element, button, options, select, input, row, group, form, confirm } = Make;
  const { control } = Asking;
  const home = document.getElementById("control");
  const presets = home.dataset.presets.split(" ");
  const FEWEST = 2;

  // Rules that the editor left for the next game.
  const written = () => {
    try {
      return JSON.parse(sessionStorage.getItem("referee.rules"));
    } catch {
      return null;
    }
  };

  // The choice of rules: the table's own, those of the editor, and the presets.
  const sets = (now) => {
    const found = new Map();
    const own = written();
    if (own?.rules) found.set("written", [own.rules, say("rules_written", { title: own.title || text("games.own_rules") })]);
    if (now && typeof now === "object") found.set("now", [now, say("rules_now", { base: now.base ?? "" })]);
    for (const name of presets) found.set(name, [name, `${text(`preset.${name}`)} (${name})`]);
    return found;
  };

  // The direction of play in a set of rules (S5), and the same rules with the other direction.
  const otherWay = home.dataset.counter.split(" ");
  const wayOf = (rules) =>
    typeof rules === "string" ? (otherWay.includes(rules) ? "counter-clockwise" : "clockwise")
      : rules.set?.S5 ?? rules.set?.direction ?? wayOf(rules.base ?? "classic");
  const going = (rules, way) => {
    if (wayOf(rules) === way) return rules;
    const { base = "classic", set = {}, ...rest } = typeof rules === "string" ? { base: rules } : rules;
    const { direction, ...others } = set;
    return { base, ...rest, set: { ...others, S5: way } };
  };

  // A game that is on is given up only on confirmation.
  const anew = async (act, body) => {
    if (home.dataset.playing !== "true") return control(act, body);
    return (await confirm(say("abandon"), say("abandon_yes"))) && control(act, { ...body, abandon: true });
  };

  const seatList = (names, pads) => {
    const list = element("div", { class: "seats" });
    const dealer = select("dealer", say("dealer"), []);
    const fields = () => [...list.querySelectorAll("input")];
    const renew = () => {
      const chosen = dealer.querySelector("select").value;
      list.querySelectorAll(".row").forEach((line, place) => {
        line.querySelector("span").textContent = say("seat_n", { n: place + 1 });
        const gone = line.querySelector("button");
        gone.setAttribute("aria-label", say("remove_seat", { n: place + 1 }));
        gone.disabled = fields().length <= FEWEST;
      });
      more.disabled = fields().length >= pads;
      dealer.querySelector("select").replaceChildren(
        ...options(fields().map((field, place) => [place + 1, field.value || say("seat_n", { n: place + 1 })])));
      if (Number(chosen) <= fields().length && chosen) dealer.querySelector("select").value = chosen;
    };
    const add = (name) => {
      const line = row(
        element("label", {}, element("span"), element("input", { value: name, required: true, maxlength: 40, autocomplete: "off" })),
        button("×", () => {
          const next = line.nextElementSibling ?? line.previousElementSibling;
          line.remove();
          list.dispatchEvent(new Event("input", { bubbles: true }));
          next?.querySelector("input").focus();
        }));
      list.append(line);
    };
    const more = button(say("add_seat"), () => {
      add("");
      list.dispatchEvent(new Event("input", { bubbles: true }));
      fields().at(-1).focus();
    });
    list.addEventListener("input", renew);
    names.forEach(add);
    while (fields().length < FEWEST) add("");
    renew();
    return { parts: [list, row(more), dealer], names: () => fields().map((field) => field.value.trim()) };
  };

  const begin = (about) => {
    const seats = seatList((about.names ?? []).slice(0, about.pads), about.pads);
    const rules = sets(about.rules);
    const which = select("rules", say("rules"), [...rules].map(([key, [, words]]) => [key, words]));
    const chosen = which.querySelector("select");
    // Coming from the editor, choose its rules; at any other time those of the table.
    const usual = typeof about.rules === "string" ? about.rules : "now";
    const first = new URLSearchParams(location.search).has("begin") ? "written" : usual;
    for (const key of ["classic", usual, first]) if (rules.has(key)) chosen.value = key;
    const way = select("way", say("way"), ["clockwise", "counter-clockwise"].map((one) => [one, text(`value.S5.${one}`)]));
    const turn = () => (way.querySelector("select").value = wayOf(rules.get(chosen.value)[0]));
    chosen.addEventListener("change", turn);
    turn();
    const send = (fields) =>
      anew("begin", {
        seats: seats.names(), rules: going(rules.get(fields.rules.value)[0], fields.way.value), dealer: Number(fields.dealer.value),
      });
    const editing = element("p", {}, element("a", { href: "/rules" }, say("edit_rules")));
    return group(say("new_game"), form([...seats.parts, which, way, editing], send, say("begin")),
      element("hr"), element("p", { class: "note" }, say("rematch_what")),
      row(button(say("rematch"), () => anew("rematch", {}))));
  };

  return { begin };
})();
