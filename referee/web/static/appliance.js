// The table itself: the volume of its voice, its power, and the phones that are its pads.
"use strict";
const Tablewide = (() => {
  const { say } = Words;
  const { element, button, input, row, group, form, confirm } = Make;
  const { control, tell } = Asking;

  const loudness = (name, value) => {
    const shown = element("output", {}, `${value} %`);
    const field = element("input", { name, type: "range", min: 0, max: 100, step: 5, value,
      oninput: (event) => (shown.textContent = `${event.target.value} %`) });
    return element("label", {}, say(name), element("span", { class: "loudness" }, field, shown));
  };
  const voice = (now) =>
    group(say("voice"), form([
      row(loudness("volume", now.volume), loudness("quiet_volume", now.quiet_volume)),
      row(input("quiet_from", say("quiet_from"), { type: "time", value: now.quiet_from }),
        input("quiet_to", say("quiet_to"), { type: "time", value: now.quiet_to })),
      element("p", { class: "note" }, say("quiet_what")),
      element("label", { class: "switch" },
        element("input", { type: "checkbox", name: "cards", ...(now.cards ? { checked: "" } : {}) }), say("call_cards")),
    ], (fields) => {
      if (!fields.quiet_from.value !== !fields.quiet_to.value) {
        tell("refused", say("quiet_both"));
        return false;
      }
      return control("settings", {
        volume: Number(fields.volume.value), quiet_volume: Number(fields.quiet_volume.value),
        quiet_from: fields.quiet_from.value, quiet_to: fields.quiet_to.value,
        cards: fields.cards.checked,
      });
    }));

  const power = () =>
    group(say("power"), element("p", { class: "note" }, say("power_what")),
      row(button(say("power_off"), async () => {
        if (await confirm(say("power_ask"), say("power_off"))) control("power-off", { confirm: true });
      }, "danger")));

  const backup = () =>
    group(say("backup"), element("p", { class: "note" }, say("backup_what")),
      row(element("a", { href: "/backup.zip", download: "", class: "button" }, say("backup_get"))));

  const phones = (seats) =>
    group(say("phones"), element("p", { class: "note" }, say("phones_what"), " ",
      element("a", { href: "/pads" }, Words.text("pad.pads"))),
      ...seats.map(({ seat, name, phones: many }) => form([row(element("b", {}, name),
        input("phones", say("phones_many"), { type: "number", min: 1, max: 4, value: many, required: true }))],
      (fields) => control("seat-code", { seat, phones: Number(fields.phones.value) }), say("call_in"))));

  return { voice, power, phones, backup };
})();
