// The moment of a decided slap, for the whole room: it takes the screen for a few seconds. Then the pile travels to its
// winner. With reduced motion, the same is shown without it.
"use strict";
const Winner = (() => {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const LONG = 6000;
  const LEAST = 2500;
  const home = document.getElementById("winner");
  let latest = 0n;
  let told = "";
  let since = 0;
  let timer = 0;
  let after = null;
  let replayed = false;

  const end = () => {
    clearTimeout(timer);
    home.hidden = true;
    replayed = false;
    const next = after;
    after = null;
    next?.();
  };

  const show = () => {
    home.hidden = false;
    since = performance.now();
    clearTimeout(timer);
    timer = setTimeout(end, LONG);
  };

  for (const kind of ["click", "keydown"]) {
    addEventListener(kind, (event) => {
      if (!home.hidden && (kind === "click" ? home.contains(event.target) : event.key === "Escape")) end();
    });
  }

  // Cards of the pile as they lie, on their way to a seat.
  const fly = (cards, seat) => {
    const tile = document.querySelector(`#seats [data-key="${seat}"]`)?.getBoundingClientRect();
    if (!tile || calm.matches) return;
    cards.forEach(({ picture, at }, place) => {
      Object.assign(picture.style, { left: `${at.left}px`, top: `${at.top}px`, width: `${at.width}px`, height: `${at.height}px` });
      picture.classList.add("flying");
      document.body.append(picture);
      const to = `translate(${tile.left + tile.width / 2 - at.left - at.width / 2}px, ${tile.top + tile.height / 2 - at.top - at.height / 2}px)`;
      const moved = picture.animate([{}, { transform: `${to} scale(.3)`, opacity: 0.2 }],
        { duration: 700, delay: place * 40, easing: "ease-in-out", fill: "both" });
      moved.finished.finally(() => picture.remove());
    });
  };

  return {
    end,
    // The replay takes the screen; when it ends, so does the moment.
    rest() {
      clearTimeout(timer);
      [home.hidden, replayed] = [true, true];
    },
    // The region is new: a slap decided later than the last one takes the screen; news about the same one replaces its
    // content.
    shown(first) {
      const verdict = home.querySelector("[data-t]");
      if (!verdict) {
        if (!home.hidden) end();
        return;
      }
      const { t, ruling } = verdict.dataset;
      const later = BigInt(t) > latest || (BigInt(t) === latest && ruling !== told);
      if (!first && later) show();
      if (first || later) [latest, told] = [BigInt(t), ruling];
    },
    // Actions after the regions are refreshed, if they take the pile from the table.
    pileGoes(fresh) {
      const owner = document.querySelector("#seats .owner")?.dataset.key;
      const fan = [...document.querySelectorAll("#pile .fan .card")];
      if (!("pile" in fresh) || fresh.pile.includes("class=\"fan\"") || !fan.length || !owner) return null;
      const cards = fan.map((card) => ({ picture: card.cloneNode(), at: card.getBoundingClientRect() }));
      return () => {
        // The end of the game keeps the screen.
        if (replayed) after = () => fly(cards, owner);
        else if (home.hidden || home.querySelector(".over")) fly(cards, owner);
        else {
          after = () => fly(cards, owner);
          clearTimeout(timer);
          timer = setTimeout(end, Math.max(0, LEAST - (performance.now() - since)));
        }
      };
    },
  };
})();
