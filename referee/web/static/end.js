// The page of a finished game: a rematch by a paired device or by pads, and the return to the board when the next game
// begins.
"use strict";
(async () => {
  const home = document.getElementById("end");
  const own = `/games/${home.dataset.game}/end`;
  const stream = new EventSource(home.dataset.events);
  // Stay here when an old game is viewed while another is on.
  let other = true;
  stream.addEventListener("regions", (event) => {
    const { state } = JSON.parse(event.data);
    if (state === undefined) return;
    const was = other;
    const live = state.includes('class="live"');
    other = live && !state.includes(own);
    // The table waits for a command only while this was its latest game.
    document.getElementById("another").hidden = !live || other;
    if (other && !was) location.assign(home.dataset.back);
  });
  addEventListener("pagehide", () => stream.close(), { once: true });

  const paired = await Asking.isPaired();
  const again = document.getElementById("rematch");
  again.hidden = !paired;
  again.addEventListener("click", () => Asking.control("rematch", {}));
})();
