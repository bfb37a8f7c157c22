// Keeps and removes recorded games, on a paired device.
"use strict";
(async () => {
  const { text, say } = Words;
  const { element, button, row, confirm } = Make;
  const { control } = Asking;
  const on = document.getElementById("on").dataset.game;

  const keep = (place, own) => {
    const game = Number(place.dataset.game);
    const kept = place.dataset.kept !== undefined;
    const label = (words) => ({ "aria-label": `${words}, ${text("games.game", { game })}` });
    const named = (made, words) => {
      for (const [key, value] of Object.entries(label(words))) made.setAttribute(key, value);
      return made;
    };
    const keeping = say(kept ? "unkeep" : "keep");
    const buttons = [named(button(keeping, async () => {
      if (!(await control("keep", { game, keep: !kept }))) return;
      if (kept) delete place.dataset.kept;
      else place.dataset.kept = "";
      badge(place, !kept);
      keep(place, own);
      own.querySelector("button").focus();
    }), keeping)];
    // The game that is on cannot be removed.
    if (String(game) !== on) {
      buttons.push(named(button(say("remove"), async () => {
        if (!(await confirm(say("remove_ask", { game }), say("remove")))) return;
        if (!(await control("remove", { game, confirm: true }))) return;
        if (place.dataset.after) location.assign(place.dataset.after);
        else place.remove();
      }, "danger"), say("remove")));
    }
    own.replaceChildren(...buttons);
  };
  const badge = (place, kept) => {
    const head = place.querySelector("th");
    if (!head) return;
    head.querySelector(".badge")?.remove();
    if (kept) head.querySelector("a").after(" ", element("span", { class: "badge" }, text("games.kept")));
  };

  if (!(await Asking.isPaired())) return;
  for (const place of document.querySelectorAll("[data-game]:not(template)")) {
    const own = element("span", { class: "keeping" });
    (place.querySelector("td.links") ?? place).append(own);
    keep(place, own);
  }
})();
