// Building blocks of the forms for paired devices: texts, elements, and requests to the server.
"use strict";

// The texts of a page's scripts, in the page's language.
const Words = (() => {
  const words = JSON.parse(document.getElementById("words").dataset.words);
  const text = (key, fields = {}) =>
    Object.entries(fields).reduce((said, [name, value]) => said.replaceAll(`{${name}}`, value), words[key] ?? key);
  return { text, say: (key, fields) => text(`control.${key}`, fields) };
})();

// Elements, forms, and the confirmation before something that cannot be undone.
const Make = (() => {
  const { say } = Words;

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== false && value != null) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
  };
  const button = (label, act, kind = "") =>
    element("button", { type: "button", class: `button ${kind}`.trim(), onclick: act }, label);
  const options = (pairs) => pairs.map(([value, text]) => element("option", { value }, text));
  const select = (name, label, pairs) =>
    element("label", {}, label, element("select", { name }, ...options(pairs)));
  const input = (name, label, attributes) => element("label", {}, label, element("input", { name, ...attributes }));
  const row = (...children) => element("div", { class: "row" }, ...children);
  const group = (legend, ...children) => element("fieldset", {}, element("legend", {}, legend), ...children);

  // `act` receives the form and returns whether it succeeded; if it did not, the entries stay.
  const form = (children, act, label = say("apply")) =>
    element("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        const own = event.currentTarget;
        if (await act(own.elements, own)) own.dispatchEvent(new CustomEvent("done", { bubbles: true }));
      },
    }, ...children, element("button", { class: "button strong" }, label));

  const confirm = (question, yes) =>
    new Promise((decided) => {
      const dialog = element("dialog", { role: "alertdialog", "aria-labelledby": "question" },
        element("form", { method: "dialog" },
          element("p", { id: "question" }, question),
          row(element("button", { class: "button", value: "no", autofocus: true }, say("cancel")),
            element("button", { class: "button danger", value: "yes" }, yes))));
      dialog.addEventListener("close", () => {
        dialog.remove();
        decided(dialog.returnValue === "yes");
      });
      document.body.append(dialog);
      dialog.showModal();
    });

  return { element, button, options, select, input, row, group, form, confirm };
})();

// This device's session, and its requests. The server checks every request; the pages only offer them.
const Asking = (() => {
  const { say } = Words;
  const answer = document.getElementById("answer");
  let session = { paired: false };

  const look = async () => {
    const got = await fetch("/api/session");
    session = got.ok ? await got.json() : { paired: false };
    return session;
  };
  // Without an answer a visitor counts as unpaired: the server is gone, or the page is being left.
  const isPaired = () => look().then((known) => known.paired, () => false);

  // The answer: its status, the seconds to wait, and its words; status 0 if there was none.
  const ask = async (path, body) => {
    const headers = { "Content-Type": "application/json" };
    if (session.csrf) headers[session.csrf_header] = session.csrf;
    try {
      const got = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
      const told = await got.json().catch(() => ({}));
      if (got.status === 401) document.dispatchEvent(new Event("unpaired"));
      return { status: got.status, wait: Number(got.headers.get("Retry-After")) || 0, told };
    } catch {
      return { status: 0, wait: 0, told: {} };
    }
  };

  const tell = (state, ...parts) => {
    answer.dataset.state = state;
    answer.replaceChildren(...parts);
  };
  // The answer names its language; text without a translation is English.
  const worded = (text, lang = "en") => Make.element("span", { lang }, text);

  const post = async (path, body) => {
    tell("asked", "…");
    const { status, told } = await ask(path, body);
    const done = told.accepted === true;
    if (status === 0) tell("refused", say("unanswered"));
    else if (done) tell("done", told.words ? worded(told.words, told.lang) : say("sent"));
    else {
      const [before, after] = say("refused").split("{words}");
      tell("refused", before, worded(told.words ?? String(status), told.lang), after ?? "");
    }
    return done;
  };
  const control = async (act, body = {}) => {
    const done = await post(`/api/control/${act}`, body);
    if (done) document.dispatchEvent(new Event("changed"));
    return done;
  };

  return { look, isPaired, ask, post, control, tell, session: () => session };
})();
