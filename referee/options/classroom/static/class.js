// The room's page: keeps stage and results as the server has them, shows the card when it is due, and says when it did.
"use strict";
(() => {
  const card = document.getElementById("card");
  const answer = document.getElementById("answer");
  let phase = "";
  let first = true;

  const nextPicture = () => new Promise((drawn) => requestAnimationFrame(drawn));

  // The card is drawn in one picture, and is on its way to the screen when the next one is due.
  const show = async () => {
    await nextPicture();
    if (phase !== "showing") return;
    card.classList.add("now");
    const began = performance.now();
    await nextPicture();
    document.dispatchEvent(new CustomEvent("shown", { detail: [began, performance.now()] }));
  };

  const open = () => {
    const stream = new EventSource("/events");
    stream.addEventListener("class", (event) => {
      const fresh = JSON.parse(event.data);
      for (const [id, html] of Object.entries(fresh.regions)) Regions.show(id, html, first);
      first = false;
      const begins = fresh.phase === "showing" && phase !== "showing";
      phase = fresh.phase;
      document.body.dataset.phase = phase;
      if (!card) return;
      if (begins) show();
      if (!["showing", "open"].includes(phase)) card.classList.remove("now");
    });
    stream.addEventListener("error", () => {
      // The browser tries again by itself, unless the server refused.
      if (stream.readyState === EventSource.CLOSED) setTimeout(open, 4000);
    });
  };

  for (const button of document.querySelectorAll("[data-act]")) {
    button.addEventListener("click", async () => {
      const { act } = button.dataset;
      if (act === "forget" && !(await Make.confirm(Words.text("class.forget_sure"), Words.text("class.forget")))) return;
      await Asking.look();
      await Asking.post("/api/class", { do: act });
      setTimeout(() => (answer.textContent = ""), 4000);
    });
  }
  card?.querySelector("img").decode().catch(() => {});
  open();
})();
