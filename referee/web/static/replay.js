// Steps through a game. The server sends some steps at a time, and they are kept.
"use strict";
(() => {
  const slider = document.getElementById("slider");
  const where = document.getElementById("where");
  const what = document.getElementById("what");
  const play = document.getElementById("play");
  const steps = new Map();
  const coming = new Map();
  const last = Number(slider.max);
  const CHUNK = 30;
  const PACE = 700;
  let at = Number(slider.value);
  let timer = 0;

  const fetchChunk = (start) => {
    if (!coming.has(start)) {
      const got = fetch(`${slider.dataset.steps}&from=${start}`)
        .then((answer) => answer.json())
        .then((found) => found.steps.forEach((step, place) => steps.set(found.from + place, step)))
        .catch(() => coming.delete(start));
      coming.set(start, got);
    }
    return coming.get(start);
  };

  const show = async (place) => {
    at = Math.min(Math.max(place, 0), last);
    slider.value = at;
    where.textContent = slider.dataset.of.replace("{at}", at + 1).replace("{all}", last + 1);
    slider.setAttribute("aria-valuetext", where.textContent);
    const wanted = at;
    const start = wanted - (wanted % CHUNK);
    if (!steps.has(wanted)) await fetchChunk(start);
    if (wanted !== at) return;
    const step = steps.get(wanted);
    if (!step) return;
    what.textContent = `${step.clock} · ${step.what}`;
    Regions.show("seats", step.seats, true);
    Regions.show("pile", step.pile, true);
    Regions.show("ruled", step.ruled, true);
    Regions.show("ask", step.ask, true);
    if (step.ask) stop();
    history.replaceState(null, "", `${slider.dataset.path}${slider.dataset.path.includes("?") ? "&" : "?"}at=${at}`);
    slider.dataset.shown = at;
    if (wanted - start > CHUNK / 2 && start + CHUNK <= last) fetchChunk(start + CHUNK);
  };

  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = play.dataset.play;
  };
  const toggle = () => {
    if (timer) return stop();
    play.textContent = play.dataset.stop;
    timer = setInterval(() => (at >= last ? stop() : show(at + 1)), PACE);
  };

  // A question is answered before the game goes on.
  const answered = () => {
    const question = document.querySelector("#ask details:not([open])");
    if (question) question.open = true;
    return !question;
  };
  const questions = (slider.dataset.questions ?? "").split(" ").filter(Boolean).map(Number);
  const moves = {
    first: () => 0,
    previous: () => at - 1,
    next: () => at + 1,
    last: () => last,
    question: () => questions.find((place) => place > at) ?? last,
  };
  for (const link of document.querySelectorAll("[data-move]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      stop();
      if (link.dataset.move !== "next" || answered()) show(moves[link.dataset.move]());
    });
  }
  slider.addEventListener("input", () => {
    stop();
    show(Number(slider.value));
  });
  play.hidden = false;
  play.addEventListener("click", () => answered() && toggle());
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 10, PageDown: at + 10, Home: 0, End: last }[event.key];
    if (to !== undefined && !event.target.closest?.(".scroll")) {
      event.preventDefault();
      stop();
      if (event.key !== "ArrowRight" || answered()) show(to);
    } else if (event.key === " " && !event.target.closest?.("button, summary")) {
      event.preventDefault();
      if (answered()) toggle();
    }
  });
  show(at);
})();
