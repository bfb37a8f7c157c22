// A class votes on slaps: phones choose and change an answer; the room's page reports which slap it has come to, and
// opens the answer when the server says so.
"use strict";
(() => {
  const { text } = Words;
  const phone = document.getElementById("asked");
  const answer = document.getElementById("answer");
  let question = "";
  let shown = false;
  let due = null;

  // A phone that scans the code again stays what it is in this lesson.
  let code = location.hash.slice(1);
  let votes = {};
  const mark = () => {
    const mine = votes[question];
    for (const part of document.querySelectorAll("[data-choice]")) {
      const chosen = part.dataset.choice === mine;
      if (part.tagName === "BUTTON") part.setAttribute("aria-pressed", chosen);
      else if (chosen) part.querySelector("th").append(Make.element("small", {}, ` • ${text("vote.yours")}`));
    }
    const standing = document.getElementById("standing");
    if (standing) standing.hidden = !mine;
  };
  const report = async (fields = {}, own = code) => {
    const { status, told } = await Asking.ask("/api/vote", { code: own, ...fields });
    if (told.accepted) {
      votes = told.votes;
      document.getElementById("nickname").textContent = told.name;
      answer.textContent = "";
    } else answer.textContent = status ? told.words ?? String(status) : text("pad.lost");
    mark();
    return told.accepted === true;
  };
  const kept = (fresh) => {
    try {
      if (fresh) localStorage.vote = fresh;
      return localStorage.vote;
    } catch {
      return fresh;
    }
  };
  const join = async () => {
    const known = kept();
    if (known && known !== code && (await report({}, known))) code = known;
    else if (!(await report())) return;
    kept(code);
  };

  const tick = () => {
    const left = document.getElementById("left");
    if (left) left.textContent = due === null ? "" : text("vote.left", { n: Math.max(0, Math.ceil((due - performance.now()) / 1000)) });
  };
  // The room's page opens the answer to the question at which it stands.
  const open = () => {
    const asked = document.querySelector("#ask details");
    if (asked && shown && asked.dataset.question === question) asked.open = true;
  };
  const follow = () => {
    const stream = new EventSource(`/vote/events?lang=${document.documentElement.lang}`);
    stream.addEventListener("vote", (event) => {
      const fresh = JSON.parse(event.data);
      ({ question, shown } = fresh);
      due = fresh.due === null ? null : performance.now() + fresh.due;
      for (const region of ["asked", "votes"]) if (fresh[region] !== undefined) Regions.show(region, fresh[region], true);
      mark();
      tick();
      open();
    });
    stream.addEventListener("error", () => {
      // The browser tries again by itself, unless the server refused.
      if (stream.readyState === EventSource.CLOSED) setTimeout(follow, 4000);
    });
  };

  if (phone) {
    phone.addEventListener("click", (event) => {
      const { choice } = event.target.closest("[data-choice]")?.dataset ?? {};
      if (choice) report({ question, choice });
    });
    navigator.wakeLock?.request("screen").catch(() => {});
    join();
  } else {
    const ask = document.getElementById("ask");
    let told = "";
    let telling = Promise.resolve();
    const tell = () => {
      const asked = ask.querySelector("details");
      const now = { question: asked?.dataset.question ?? null, shown: asked?.open ?? false };
      if (told === JSON.stringify(now)) return;
      told = JSON.stringify(now);
      // One after the other, so that the last one counts.
      telling = telling.then(() => Asking.ask("/api/question", now));
    };
    new MutationObserver(() => {
      open();
      tell();
    }).observe(ask, { childList: true });
    // The event of an opened answer does not bubble.
    ask.addEventListener("toggle", tell, true);
    tell();
  }
  setInterval(tick, 250);
  follow();
})();
