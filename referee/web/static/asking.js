// Who this device is, and what is asked of the server. It checks every request; the pages only offer them.
"use strict";
const Asking = (() => {
  const { say } = Words;
  const answer = document.getElementById("answer");
  let session = { paired: false };

  const look = async () => {
    const got = await fetch("/api/session");
    session = got.ok ? await got.json() : { paired: false };
    return session;
  };

  // What came back: its status, how many seconds to wait, and what was told; status 0 where nothing came.
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
  // The answer names its language; what nobody has put into the page's own is English.
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

  return { look, ask, post, control, tell, session: () => session };
})();
