// A pupil's own phone: waits, shows the card, feels the hand, and reports the instants of each trial by its own clock.
"use strict";
(() => {
  const { text } = Words;
  const WINDOW = 1500;
  const code = location.hash.slice(1);
  const button = document.getElementById("trial");
  const [head, line, card] = button.children;
  const answer = document.getElementById("answer");
  const ns = (ms) => Math.round(ms * 1e6);
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  const nextPicture = () => new Promise((drawn) => requestAnimationFrame(drawn));

  let next = null;      // what the server asks for
  let feel = null;      // takes the first hand of a trial
  let running = false;

  const say = (title, words = "") => {
    head.textContent = title;
    line.textContent = words;
  };
  const hand = () => (next?.hand ? text(`class.hand_${next.hand}`) : "");

  const report = async (fields = {}) => {
    for (;;) {
      const { status, told } = await Asking.ask("/api/trial", { code, ...fields });
      answer.textContent = "";
      if (told.accepted) return told;
      if (status !== 0 && status !== 429) {
        button.disabled = true;
        throw new Error(told.words ?? String(status));
      }
      // No answer: the measurement is reported again.
      answer.textContent = text("pad.lost");
      await sleep(1000);
    }
  };

  // One trial; gives what is reported of it, and what became of it in a word.
  const measure = async () => {
    const made = { pupil: next.pupil, number: next.number, kind: "touch", sampling: 0, shown: null, touched: null };
    let felt = false;
    button.dataset.number = next.number;
    const touched = new Promise((done) => {
      feel = (stamp, kind) => {
        if (felt) return;
        felt = true;
        Object.assign(made, { touched: ns(stamp), kind });
        done();
      };
    });
    say(text("class.wait"), hand());
    made.ready = ns(performance.now());
    await Promise.race([sleep(next.wait / 1e6), touched]);
    if (!felt) await nextPicture();
    if (!felt) {
      button.classList.add("now");
      const began = performance.now();
      await nextPicture();
      made.shown = [ns(began), ns(performance.now())];
      await Promise.race([sleep(WINDOW), touched]);
    }
    feel = null;
    button.classList.remove("now");
    return made;
  };

  const run = async () => {
    running = true;
    while (next.number !== null && !document.hidden) {
      const made = await measure();
      next = await report({ trial: made });
      say(next.said, hand());
      if (next.number !== null) await sleep(next.rest / 1e6);
    }
    running = false;
    rest();
  };

  const rest = () => {
    button.dataset.pupil = next.pupil;
    button.dataset.over = next.number === null;
    button.className = `pad bg-seat${((next.pupil - 1) % 8) + 1}`;
    button.disabled = false;
    if (next.number === null) say(next.median, `${next.name} · ${text("class.again")}`);
    else say(next.name, text("class.ready", { n: next.number, each: next.each }));
  };

  const touch = (event, kind) => {
    event.preventDefault();
    if (feel) feel(event.timeStamp, kind);
    else if (!running && !button.disabled) start();
  };
  const start = async () => {
    button.disabled = true;
    try {
      if (next.number === null) {
        next = await report({ next: true });
        rest();
      } else {
        button.disabled = false;
        await run();
      }
    } catch (refused) {
      say("–", refused.message);
    }
  };

  button.addEventListener("pointerdown", (event) => touch(event, event.pointerType === "mouse" ? "key" : "touch"));
  window.addEventListener("keydown", (event) => {
    if (event.code === "Space" && !event.repeat) touch(event, "key");
  });
  window.addEventListener("contextmenu", (event) => event.preventDefault());
  navigator.wakeLock?.request("screen").catch(() => {});
  card.decode().catch(() => {});
  report().then((told) => {
    next = told;
    rest();
  }, (refused) => say("–", refused.message));
})();
