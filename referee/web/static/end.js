// The page of a game that is over: a rematch by a paired device or by pads, and back to the board when the next game
// begins.
"use strict";
(async () => {
  const home = document.getElementById("end");
  const own = `/games/${home.dataset.game}/end`;
  const stream = new EventSource(home.dataset.events);
  // Whoever looks at an old game while another is on stays here.
  let other = true;
  stream.addEventListener("regions", (event) => {
    const { state } = JSON.parse(event.data);
    if (state === undefined) return;
    const was = other;
    const live = state.includes('class="live"');
    other = live && !state.includes(own);
    // The table waits for somebody's word only while this was its latest game.
    document.getElementById("another").hidden = !live || other;
    if (other && !was) location.assign(home.dataset.back);
  });
  addEventListener("pagehide", () => stream.close(), { once: true });

  const { paired } = await Asking.look();
  const again = document.getElementById("rematch");
  again.hidden = !paired;
  again.addEventListener("click", () => Asking.control("rematch", {}));
})();
