// Pads on a page: one large button on a phone, or keys of this machine. Touches are stamped here, by this device's own
// clock, and reported until they are acknowledged. Each answer carries the table's timestamp, and the next report
// echoes it, so that the table can compute this clock's offset. A hand is stated to have come between this timestamp
// and the moment at which the table receives it, so a touch waits for nothing here.
"use strict";
(() => {
  const { text } = Words;
  const { element } = Make;
  const HEARTBEAT = 200;
  const PATIENCE = 2000;
  const home = document.getElementById("pads");
  const ns = (ms) => Math.round(ms * 1e6);
  const random = () => [...crypto.getRandomValues(new Uint8Array(12))].map((one) => one.toString(16).padStart(2, "0")).join("");
  const page = random();
  // The same for every page that this device loads: one phone for each seat, however often the page is reloaded.
  const phone = (() => {
    try {
      return (localStorage.phone ??= random());
    } catch {
      return page;
    }
  })();

  const keys = JSON.parse(home.dataset.keys ?? "null");
  const kind = keys ? "key" : "touch";
  const code = location.hash.slice(1);
  const pads = (keys ?? (code ? [{ code, key: "" }] : [])).map((one) =>
    ({ ...one, count: 0, waiting: [], down: false, name: "", key: one.key }));
  if (!pads.length) {
    if (!keys) home.append(element("p", { class: "panel empty" }, text("pad.no_code")));
    return;
  }

  const shown = new Map();
  for (const pad of pads.filter((one) => !one.unseen)) {
    const name = element("b");
    const key = element("kbd", {}, pad.key.replace(/^(Key|Digit)/, ""));
    const button = element("button", { type: "button", class: "pad", disabled: true }, name, pad.key ? key : null);
    shown.set(pad, { name, button });
    home.append(button);
  }
  const state = element("p", { class: "note", role: "status", "aria-live": "polite" });
  home.append(state);

  // Sampling interval of this screen: a sliding finger gives one event for each sample.
  const gaps = [];
  let lastLook = 0, picture = 0;
  const lookedAt = (event) => {
    for (const one of event.getCoalescedEvents?.() ?? [event]) {
      const gap = one.timeStamp - lastLook;
      if (gap > 1 && gap < 50) gaps.push(gap);
      lastLook = one.timeStamp;
    }
    gaps.splice(0, gaps.length - 200);
  };
  const sampling = () => {
    if (kind === "key") return picture > 16 ? picture / 2 : 0;
    if (gaps.length < 30) return 0;
    return [...gaps].sort((a, b) => a - b)[gaps.length >> 1];
  };

  let echo = null, heard = -Infinity, way = Infinity, refused = "", sending = 0, known = false;

  let beats = 0;
  const report = async (touched) => {
    // A refused page asks again now and then: the code may become valid again, and the table learns of it each time.
    if (refused && !touched && (beats += 1) % 10) return;
    // Only a report without news may wait for those under way.
    if (sending >= 3 && !touched) return;
    sending += 1;
    const sent = performance.now();
    const body = {
      page, phone, kind, sampling: ns(sampling()), sent: ns(sent),
      // Touches that are still in this device's own queue are not covered by the promise.
      until: ns(sent - 30),
      hands: Object.fromEntries(pads.map((pad) => [pad.code, pad.waiting.slice(0, 100)])),
      ...(echo ? { echo } : {}),
    };
    // Echo each timestamp once.
    echo = null;
    try {
      const answer = await fetch("/api/pad", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
        signal: AbortSignal.timeout?.(PATIENCE),
      });
      const received = performance.now();
      const said = await answer.json();
      if (said.accepted) {
        echo = [said.at, ns(received)];
        [heard, refused] = [received, ""];
        way = Math.min(way * 1.01, received - sent);
        for (const pad of pads) {
          const mine = said.seats[pad.code];
          if (!mine) continue;
          pad.name = mine.name || text("pad.seat", { seat: mine.seat });
          pad.seat = mine.seat;
          pad.waiting = pad.waiting.filter(([count]) => count > mine.heard);
        }
        // Report at once, so that the table knows this clock before the first hand.
        if (!known && !body.echo) setTimeout(report);
        known = known || Boolean(body.echo);
      } else refused = said.words;
    } catch {
      // No network, or no answer in time: everything is reported again.
    } finally {
      sending -= 1;
      draw();
    }
  };

  const touch = (pad, pressed, stamp) => {
    if (pad.down === pressed || !known) return;
    pad.down = pressed;
    pad.count += 1;
    pad.waiting.push([pad.count, ns(stamp), pressed ? 1 : 0]);
    report(true);
    draw();
  };

  const draw = () => {
    const lost = performance.now() - heard > PATIENCE;
    for (const [pad, { name, button }] of shown) {
      name.textContent = pad.name;
      button.className = `pad ${pad.seat ? `bg-seat${((pad.seat - 1) % 8) + 1}` : ""} ${pad.down ? "down" : ""}`;
      button.disabled = lost || !known;
    }
    const looks = kind === "touch" ? Math.max(8, sampling() || 17) : sampling() || 8;
    const error = Math.round(way / 2 + looks);
    state.textContent = refused || (lost ? text("pad.lost") : text("pad.heard", { error }));
    state.classList.toggle("bad", Boolean(refused) || lost);
  };

  if (kind === "touch") {
    const [pad] = pads;
    const { button } = shown.get(pad);
    button.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      touch(pad, true, event.timeStamp);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      window.addEventListener(end, (event) => touch(pad, false, event.timeStamp));
    }
    window.addEventListener("pointermove", lookedAt);
    window.addEventListener("contextmenu", (event) => event.preventDefault());
    navigator.wakeLock?.request("screen").catch(() => {});
  } else {
    const of = (event) => pads.find((pad) => pad.key === event.code);
    window.addEventListener("keydown", (event) => {
      const pad = of(event);
      if (!pad || event.repeat || event.target.matches("input, select, textarea")) return;
      event.preventDefault();
      touch(pad, true, event.timeStamp);
    });
    window.addEventListener("keyup", (event) => of(event) && touch(of(event), false, event.timeStamp));
    window.addEventListener("blur", () => pads.forEach((pad) => touch(pad, false, performance.now())));
  }
  // A card shown to all is reported like a hand: it appeared between the drawing and the next frame.
  document.addEventListener("shown", ({ detail: [began, ended] }) => {
    const pad = pads.find((one) => one.unseen);
    if (!pad) return;
    picture = ended - began;
    touch(pad, true, ended);
    touch(pad, false, ended);
  });
  document.addEventListener("visibilitychange", () => document.hidden || report());
  setInterval(report, HEARTBEAT);
  report();
})();
