// The wizard before a game: one question at a time, the camera's picture, and each player's first slap.
"use strict";
(() => {
  const { text, say } = Words;
  const { element, button, input, form, group } = Make;
  const { post } = Asking;
  const PACE = 500;
  const home = document.getElementById("wizard");
  const steps = document.getElementById("steps");
  let version = -1, step = null, paired = null;

  // The next question is the answer; a complaint stands above the question that it is about.
  const tell = async (words) => {
    const { status, told } = await Asking.ask("/api/wizard", { say: words });
    if (status === 0) Asking.tell("refused", say("unanswered"));
    else Asking.tell("");
    look();
    return told.accepted === true;
  };

  const pairing = () =>
    group(say("not_paired"),
      form([input("code", say("code"), { inputmode: "numeric", pattern: "[0-9]{6}([0-9]{2}){0,2}", maxlength: 10, required: true })],
        async ({ code }) => {
          const done = await post("/api/pair", { code: code.value, device: "?" });
          if (done) location.reload();
          return done;
        }, say("send")));

  const lines = ([words, lang], more = "") =>
    words.split("\n").map((line) => element("p", { lang }, line + more));

  // A choice's first line is its title.
  const told = (words) => {
    const [title, ...more] = words.split("\n");
    return element("span", { class: "told" }, element("b", {}, title), ...more.map((line) => element("span", {}, line)));
  };
  const drawn = (cards) =>
    element("span", { class: "cards" }, ...cards.map((card) => Faces.image(card, "")));

  const choices = (question) =>
    element("div", { class: "choices" }, ...question.choices.map(([value, [words, lang]]) =>
      element("button", {
        type: "button", class: `button ${value === question.default ? "strong" : ""}`, lang, "data-value": value,
        disabled: question.id === "camera.live" && value === "yes" ? true : null, onclick: () => tell(value),
      }, told(words || value), value in question.cards ? drawn(question.cards[value]) : null)));

  const switches = (question) => {
    const on = question.default.split(", ");
    return form(question.choices.map(([value, [words, lang]]) =>
      element("label", { class: "switch panel", lang },
        element("input", { type: "checkbox", value, checked: on.includes(value) }), words)),
    (_, own) => tell([...own.querySelectorAll("input:checked")].map((box) => box.value).join(", ") || "none"),
    text("play.next"));
  };

  const MOST = 8;
  const names = (question) => {
    const list = element("ol", { class: "names" });
    const add = (value = "") => {
      const place = list.children.length + 1;
      const line = element("li", {}, element("input", { value, autocomplete: "off", maxlength: 40,
        "aria-label": text("play.player", { n: place }), placeholder: text("play.player", { n: place }) }),
      element("button", { type: "button", class: "button", "aria-label": say("remove"), onclick: () => {
        line.remove();
        more.hidden = false;
      } }, "✕"));
      list.append(line);
      more.hidden = place >= MOST;
    };
    const more = button(text("play.add_player"), () => {
      add();
      list.lastElementChild.firstElementChild.focus();
    });
    for (const name of question.default.split(", ")) add(name);
    return form([list, element("div", {}, more)], (_, own) =>
      tell([...own.querySelectorAll("input")].map((field) => field.value.trim()).filter(Boolean).join("\n")), text("play.next"));
  };

  const upload = (question) =>
    form([element("input", { type: "file", accept: ".toml,text/plain", required: true, "aria-label": question.words[0] })],
      async (_, own) => tell(`${await own.querySelector("input").files[0].text()}\n`), text("play.next"));

  const typed = (question) =>
    form([input("answer", "", { value: question.default, autocomplete: "off", maxlength: 400, "aria-label": question.words[0] })],
      ({ answer }) => tell(answer.value), text("play.next"));

  const asked = (now) => {
    const { question } = now;
    if (!question) return [];
    const answers = { switches, names, file: upload }[question.kind] ?? (question.choices.length ? choices : typed);
    return [...lines(question.words), answers(question),
      element("div", { class: "row quiet" }, button(text("play.back"), () => tell("back")),
        button(text("play.skip"), () => tell("skip")))];
  };

  const invitation = (seat, name) => {
    const code = () => `/pads/${seat}.svg?${Date.now()}`;
    const image = element("img", { src: code(), width: 220, height: 220, alt: text("pad.scan") });
    const anew = async () => {
      if (await post("/api/control/seat-code", { seat })) image.src = code();
    };
    return element("figure", { class: "panel scan" }, image, element("figcaption", {}, name), button(say("call_in"), anew));
  };

  const waiting = (now) => {
    if (!now.busy) return [];
    const busy = [...lines(now.busy, " …"), element("p", { id: "waited", class: "under" })];
    if (now.step !== "slaps") return [...busy, element("div", { class: "row quiet" }, button(text("play.back"), () => tell("back")))];
    return [
      ...(now.doing === "slaps" ? [element("p", {}, text(now.phones.length ? "play.scan" : "play.keys"))] : busy),
      element("div", { class: "invitations" }, ...now.phones.map((seat) =>
        invitation(seat, now.names[seat - 1]))),
      element("ul", { id: "heard" }, ...now.names.map((name, place) =>
        element("li", { class: now.heard.includes(place + 1) ? "good" : "none" },
          `${now.heard.includes(place + 1) ? "✓" : "…"} ${name}`))),
      button(text("play.wait"), () => tell("leave")),
    ];
  };

  const picture = element("img", { id: "look", alt: "", hidden: true });
  const items = element("ul", { id: "items" });
  const seen = (now) => {
    picture.hidden = !now.look?.picture;
    if (now.look?.picture) picture.src = `/look.jpg?${Date.now()}`;
    // Without a picture there is no card to judge.
    for (const yes of home.querySelectorAll('[data-value="yes"]')) yes.disabled = now.step === "camera" && !now.look?.picture;
    const told = now.look ? now.look.trouble ? [["poor", now.look.trouble, ""]] : now.look.items : [];
    items.replaceChildren(...told.map(([grade, words, todo]) =>
      element("li", { class: grade }, words, todo ? element("b", {}, ` ${todo}`) : null)));
  };

  const show = (now) => {
    steps.replaceChildren(...now.steps.map(([name, [title, lang]]) =>
      element("li", { "aria-current": name === now.step ? "step" : null },
        element("button", { type: "button", lang, onclick: () => tell(`step ${name}`) }, title))));
    const remarks = now.remarks.flatMap((words) => lines(words).map((line) => (line.classList.add("note"), line)));
    const complaint = now.complaint ? [element("p", { class: "note bad", lang: now.complaint[1] }, now.complaint[0])] : [];
    home.className = now.step === "camera" && now.look ? "looking" : "";
    home.replaceChildren(
      element("div", { class: "panel ask" }, ...remarks, ...complaint, ...asked(now), ...waiting(now)),
      element("div", {}, picture, items));
    home.querySelector("input:not([type])")?.select();
  };

  // Seconds since a wait began: it goes on, and the page shows that it does.
  let since = null, waitsFor = null;
  const count = (what) => {
    if (what !== waitsFor) [waitsFor, since] = [what, performance.now()];
    const waited = document.getElementById("waited");
    if (waited) waited.textContent = text("play.waited", { n: Math.floor((performance.now() - since) / 1000) });
  };

  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      const now = await (await fetch("/wizard.json")).json();
      if (now.paired !== paired) {
        paired = now.paired;
        await Asking.look();
        if (!paired) home.replaceChildren(pairing());
      }
      if (paired) {
        if (step !== null && now.step !== step && (step === "slaps" || now.step === "slaps")) location.reload();
        step = now.step;
        const mark = JSON.stringify([now.version, now.heard]);
        if (mark !== version) show(now);
        version = mark;
        seen(now);
        count(now.busy && now.busy[0]);
        if (now.over) {
          home.replaceChildren(element("div", { class: "panel" },
            element("p", {}, text("play.begins")), element("p", { id: "waited", class: "under" })));
          begun();
          return;
        }
      }
    } catch {
      // No answer for a moment; ask again soon.
    }
    looking = false;
  };

  // The referee begins at the same address: first the wizard's own server goes, then the game's is there, and then the
  // game itself. A page without a game after a minute says why.
  const PATIENCE = 60 * 1000;
  const begun = async () => {
    let there = 0;
    for (;;) {
      count("begin");
      await new Promise((done) => setTimeout(done, PACE));
      const now = await fetch("/recent.json").then((got) => (got.ok ? got.json() : null)).catch(() => null);
      if (now) there ||= performance.now();
      if (now?.playing || (now && performance.now() - there > PATIENCE)) {
        location.href = "/";
        return;
      }
    }
  };

  setInterval(look, PACE);
  look();
})();
