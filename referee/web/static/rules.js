// The editor of house rules: form and text show the same rules; the server checks the text while it is typed.
"use strict";
(() => {
  const { text } = Words;
  const { element, button } = Make;
  const say = (key, fields) => text(`rules.${key}`, fields);
  const found = (id) => document.getElementById(id);
  const editor = found("editor");
  const area = found("toml");
  const base = found("base");
  const title = found("title");
  const KEPT = "referee.rules";
  // Longer than the pause between two letters, and within the server's rate limit.
  const CALM = 700;
  let rules = HouseRules.whole(base.value);
  let checked = null;
  let paired = false;
  let timer = 0;
  let turn = 0;
  let own = false;

  const inText = () => !found("text").hidden;

  // The differences from the preset, in words.
  const item = (row, after = "") => element("li", {}, `${RuleFields.words(row)}${after} `, element("b", {}, row));
  const list = (key, items) => (items.length ? [element("h3", {}, say(key)), element("ul", {}, ...items)] : []);
  const USUAL = "classic";
  const differing = (from) => {
    const { on, off, values } = HouseRules.differences(rules, from);
    const other = values.map((row) => {
      const now = RuleFields.shown(row, HouseRules.value(rules, row));
      const before = RuleFields.shown(row, HouseRules.usual(from, row));
      return item(row, ` ${on.includes(row) ? now : say("instead", { now, before })}`);
    });
    const parts = [...list("on", on.map((row) => item(row))), ...list("off", off.map((row) => item(row))), ...list("values", other)];
    const none = element("p", { class: "none" }, say("same", { base: from }));
    return { count: new Set([...on, ...off, ...values]).size, parts: parts.length ? parts : [none] };
  };
  const showDifferences = () => {
    const offered = HouseRules.offered(rules).map((row) => item(row));
    found("differs").replaceChildren(...differing(rules.base).parts, ...list("offered", offered));
    const { count, parts } = differing(USUAL);
    found("unusual-count").textContent = count;
    found("unusual").replaceChildren(...parts);
  };

  // The result of the check.
  const state = (key, kind, fields) => {
    found("state").textContent = key ? say(key, fields) : "";
    found("state").dataset.state = kind;
  };
  const goTo = (line, column) => {
    show("text");
    const before = area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    area.focus();
    area.setSelectionRange(before + Math.max(0, (column ?? 1) - 1), before + (area.value.split("\n")[line - 1] ?? "").length);
  };
  const showMistakes = (mistakes, notes) => {
    const line = (one, kind) => {
      const where = one.line && button(say("at", { line: one.line, column: one.column ?? 1 }), () => goTo(one.line, one.column), "small");
      return element("li", { class: kind }, where || null, where ? " " : null, element("span", { lang: "en" }, one.words));
    };
    found("mistakes").replaceChildren(...mistakes.map((one) => line(one, "mistake")), ...notes.map((one) => line(one, "remark")));
    area.setAttribute("aria-invalid", String(mistakes.length > 0));
    number(new Set(mistakes.map((one) => one.line)));
  };
  const number = (wrong) => {
    const lines = area.value.split("\n").length;
    found("gutter").replaceChildren(
      ...Array.from({ length: lines }, (_, place) =>
        element("span", { class: wrong.has(place + 1) ? "wrong" : false }, `${place + 1}`)));
    found("gutter").scrollTop = area.scrollTop;
  };

  const later = (wait) => {
    clearTimeout(timer);
    turn += 1;
    checked = null;
    found("begin").disabled = true;
    timer = setTimeout(check, wait);
  };
  const edited = () => {
    state(paired ? "checking" : "unpaired", "asked");
    number(new Set());
    if (paired) later(CALM);
  };
  const check = async () => {
    const mine = turn;
    const { status, wait, told } = await Asking.ask("/api/rules/check", { text: area.value });
    if (mine !== turn) return;
    if (status === 429 || status === 0) {
      state(status ? "busy" : "unanswered", "asked");
      later(Math.max(wait, 1) * 1000);
      return;
    }
    if (!Array.isArray(told.mistakes)) {
      state("refused", "refused", { words: told.words ?? status });
      return;
    }
    showMistakes(told.mistakes, told.notes ?? []);
    if (!told.accepted) {
      state(told.mistakes.length === 1 ? "mistakes.one" : "mistakes.many", "refused", { n: told.mistakes.length });
      return;
    }
    state("fine", "done");
    checked = { title: told.title, rules: told.rules };
    found("begin").disabled = false;
    if (inText()) take(told.title, told.rules);
    if (own) keep();
  };
  const take = (name, said) => {
    rules = HouseRules.whole(said);
    [base.value, title.value] = [rules.base, name];
    RuleFields.fill(rules);
    showDifferences();
    found("as-form").disabled = false;
  };

  // The form has changed: write the text anew from it.
  const write = () => {
    area.value = HouseRules.written(title.value || text("rules.untitled"), rules);
    own = true;
    showDifferences();
    edited();
  };
  const show = (mode) => {
    for (const one of ["form", "text"]) {
      found(one).hidden = one !== mode;
      found(`as-${one}`).setAttribute("aria-pressed", String(one === mode));
    }
    if (mode === "text") number(new Set());
  };
  found("as-form").addEventListener("click", () => show("form"));
  found("as-text").addEventListener("click", () => show("text"));
  base.addEventListener("change", async () => {
    const lost = !HouseRules.isPreset(rules) || found("as-form").disabled;
    if (lost && !(await Make.confirm(say("anew", { base: base.value }), say("anew_yes")))) {
      base.value = rules.base;
      return;
    }
    found("as-form").disabled = false;
    rules = HouseRules.whole(base.value);
    RuleFields.fill(rules);
    write();
  });
  title.addEventListener("input", write);
  const changed = (target) => {
    const row = target.closest("[data-row]").dataset.row;
    if (target.dataset.switch) rules = HouseRules.switched(rules, row, target.checked);
    else rules = HouseRules.valued(rules, row, RuleFields.read(row));
    RuleFields.fill(rules, { switchesOnly: true });
    write();
  };
  RuleFields.form.addEventListener("input", (event) => changed(event.target));
  RuleFields.form.addEventListener("click", (event) => {
    const line = event.target.closest(".pattern");
    if (event.target.id === "add-pattern") RuleFields.addPattern().querySelector("input").focus();
    if (!event.target.classList.contains("remove-pattern")) return;
    line.querySelector("input").value = "";
    const holder = line.closest("[data-value]");
    line.remove();
    changed(holder);
    found("add-pattern").focus();
  });
  // Text that cannot be parsed yet has no form, and switching to the form must not lose it.
  area.addEventListener("input", () => {
    found("as-form").disabled = own = true;
    edited();
  });
  area.addEventListener("scroll", () => (found("gutter").scrollTop = area.scrollTop));

  // On a phone a group is closed until it is tapped, an address names one of its rows, or the search finds one.
  const narrow = matchMedia("(max-width: 640px)");
  const groups = [...document.querySelectorAll(".rulegroup")];
  const reveal = () => {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const group = row?.closest(".rulegroup");
    if (!group) return;
    group.open = true;
    row.scrollIntoView();
  };
  const fold = () => {
    for (const group of groups) group.open = !narrow.matches;
    reveal();
  };
  narrow.addEventListener("change", fold);
  addEventListener("hashchange", reveal);
  fold();

  // The search shows the rows that hold every word of it, in their sentence or their id.
  const plain = (said) => said.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").trim();
  let before = null;
  const find = () => {
    const asked = plain(found("find").value).split(/\s+/);
    const searching = asked[0] !== "";
    before ??= new Map(groups.map((group) => [group, group.open]));
    for (const group of groups) {
      for (const row of group.querySelectorAll("[data-row]")) {
        const said = plain(row.querySelector(".switch").textContent);
        row.hidden = !asked.every((word) => said.includes(word));
      }
      group.hidden = !group.querySelector("[data-row]:not([hidden])");
      group.open = searching || before.get(group);
    }
    if (!searching) before = null;
    found("none-found").hidden = groups.some((group) => !group.hidden);
  };
  found("finding").hidden = false;
  found("find").addEventListener("input", (event) => {
    event.stopPropagation();
    find();
  });

  // Files, and the next game.
  found("download").addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([area.value], { type: "application/toml" }));
    const name = (title.value || "house-rules").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "house-rules";
    element("a", { href: address, download: `${name}.toml` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  found("file").addEventListener("change", async (event) => {
    const file = event.target.files[0];
    if (!file) return;
    area.value = (await file.text()).replaceAll("\r\n", "\n").slice(0, area.maxLength);
    event.target.value = "";
    show("text");
    found("as-form").disabled = own = true;
    edited();
  });
  // Keep the latest text for when this window comes back, and for the next game.
  const keep = () => {
    const plain = HouseRules.isPreset(HouseRules.whole(checked.rules));
    const said = { title: checked.title, rules: plain ? checked.rules.base : checked.rules, text: area.value };
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(said));
    } catch {
      // A browser without storage begins with a preset.
    }
  };
  found("begin").addEventListener("click", () => {
    if (!checked) return;
    keep();
    location.assign("/control?begin");
  });

  const kept = () => {
    try {
      return JSON.parse(sessionStorage.getItem(KEPT));
    } catch {
      return null;
    }
  };
  const begin = async () => {
    const before = kept();
    if (before?.text && editor.dataset.asked === undefined) {
      take(before.title, before.rules);
      area.value = before.text;
    } else area.value = HouseRules.written(text("rules.untitled"), rules);
    showDifferences();
    number(new Set());
    if (editor.dataset.controlled !== undefined) paired = await Asking.isPaired();
    edited();
  };
  document.addEventListener("unpaired", () => {
    paired = false;
    edited();
  });
  begin();
})();
