// Marks the first frame in which a hand lies, and shows what comes of it.
"use strict";
(() => {
  const { element } = Make;
  const holder = document.getElementById("dispute");

  // Who is marked in which frame: a dot and a name on it.
  const draw = (marks) => {
    for (const place of holder.querySelectorAll(".marks")) place.replaceChildren();
    for (const { moment, seat, frame, name } of marks) {
      const place = holder.querySelector(`[data-moment="${moment}"] [data-frame="${frame}"] .marks`);
      place.append(element("span", {}, element("span", { class: `dot bg-seat${((seat - 1) % 8) + 1}` }), name));
    }
  };
  const post = async (act, body = {}) => {
    const { status, told } = await Asking.ask(`/api/review/${act}`, body);
    if (status === 0) return Asking.tell("refused", Words.text("control.unanswered"));
    Asking.tell(told.accepted ? "done" : "refused", told.words ?? String(status));
    if (!told.accepted) return;
    // Other cards make another page; what was marked is kept by the server.
    if (JSON.stringify(told.moments) !== holder.dataset.moments) return location.reload();
    for (const [id, html] of Object.entries(told.regions)) Regions.show(id, html);
    draw(told.marks);
  };

  for (const section of holder.querySelectorAll("[data-moment]")) {
    const { moment } = section.dataset;
    const large = section.querySelector(".large");
    let looked;
    const look = (event) => {
      const frame = event.target.closest?.("[data-frame]");
      if (!frame) return;
      looked = Number(frame.dataset.frame);
      large.src = frame.querySelector("img").src;
    };
    const mend = {
      nobody: () => post("nobody", { moment }),
      name: (card) => post("name", { moment, card }),
      strike: () => post("strike", { line: moment }),
      add: (card) => looked !== undefined && post("add", { frame: looked, card }),
    };
    section.addEventListener("focusin", look);
    section.addEventListener("pointerover", look);
    section.addEventListener("click", (event) => {
      const frame = event.target.closest("[data-frame]")?.dataset.frame;
      if (frame !== undefined) {
        const seat = section.querySelector("input:checked").value;
        post("mark", { moment, seat: Number(seat), frame: Number(frame) });
      }
      const act = event.target.closest("[data-act]")?.dataset.act;
      if (act) mend[act](section.querySelector("select").value);
    });
    // Frame by frame with the arrow keys.
    section.querySelector(".strip").addEventListener("keydown", (event) => {
      const way = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
      const next = way && document.activeElement[way];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
  }
  for (const button of holder.querySelectorAll("[data-strike]")) {
    button.addEventListener("click", () => post("strike", { line: button.dataset.strike }));
  }
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z") {
      event.preventDefault();
      post("undo");
    }
  });
  document.getElementById("undo").addEventListener("click", () => post("undo"));
  document.getElementById("save").addEventListener("click", () => post("save"));
  draw(JSON.parse(holder.dataset.marks));
})();
