// Speaks the referee's announcements on this screen too, with the browser's own voice: for a laptop at the projector. A
// verdict interrupts anything else and is spoken to its end; of the rest only the newest waits. It stays on from game
// to game, though each begins and ends on its own page.
"use strict";
const Sound = (() => {
  const voice = window.speechSynthesis;
  const button = document.getElementById("sound");
  const kept = () => {
    try {
      return sessionStorage.sound === "on";
    } catch {
      return false;
    }
  };
  let on = kept();
  let heard = 0;
  let saying = null;
  let waiting = [];

  const next = () => {
    saying = waiting.shift() ?? null;
    if (!saying) return;
    const words = new SpeechSynthesisUtterance(saying.text);
    words.lang = saying.lang;
    words.onend = next;
    // A browser may require a touch on this page, too, before it speaks: then the button says that it is silent.
    words.onerror = (event) => {
      if (event?.error === "not-allowed") turn(false);
      next();
    };
    voice.speak(words);
  };

  const say = (phrase) => {
    waiting = [...waiting.filter((one) => one.verdict), phrase];
    if (!saying) next();
    // The interrupted phrase ends, and the next one begins.
    else if (phrase.verdict && !saying.verdict) voice.cancel();
  };

  const turn = (wanted) => {
    on = wanted;
    if (!on) {
      waiting = [];
      voice.cancel();
    }
    try {
      sessionStorage.sound = on ? "on" : "off";
    } catch {
      // Without storage, a browser speaks until the page is left.
    }
    show();
  };
  const show = () => {
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? button.dataset.on : button.dataset.off;
  };

  if (voice && button) {
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      turn(!on);
      // Browsers let a page speak only after a touch; the phrase spoken then confirms that it works.
      if (on) say({ text: button.dataset.on, lang: document.documentElement.lang, verdict: false });
    });
  }

  return {
    // The region is new: do not repeat phrases from before this page was opened.
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
