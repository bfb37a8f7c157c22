// Speaks what the referee says on this screen too, by the browser's own voice: for a laptop at the projector. A verdict
// breaks off anything else and is spoken to its end; of the rest only the newest waits.
"use strict";
const Sound = (() => {
  const voice = window.speechSynthesis;
  const button = document.getElementById("sound");
  let on = false;
  let heard = 0;
  let saying = null;
  let waiting = [];

  const next = () => {
    saying = waiting.shift() ?? null;
    if (!saying) return;
    const words = new SpeechSynthesisUtterance(saying.text);
    words.lang = saying.lang;
    words.onend = words.onerror = next;
    voice.speak(words);
  };

  const say = (phrase) => {
    waiting = [...waiting.filter((one) => one.verdict), phrase];
    if (!saying) next();
    // What is broken off ends, and the next one begins.
    else if (phrase.verdict && !saying.verdict) voice.cancel();
  };

  const show = () => {
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? button.dataset.on : button.dataset.off;
  };

  if (voice && button) {
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      on = !on;
      if (!on) {
        waiting = [];
        voice.cancel();
      }
      show();
      // Browsers let a page speak once somebody has touched it; and whoever touches it hears that it does.
      if (on) say({ text: button.dataset.on, lang: document.documentElement.lang, verdict: false });
    });
  }

  return {
    // The region is new. What was said before this page was opened is not said again.
    heard(first) {
      for (const line of document.querySelectorAll("#said li[data-key^='said']")) {
        const number = Number(line.dataset.key.slice(4));
        if (number <= heard && !first) continue;
        heard = number;
        if (on && !first) say({ text: line.textContent, lang: line.lang, verdict: line.dataset.verdict !== undefined });
      }
    },
  };
})();
