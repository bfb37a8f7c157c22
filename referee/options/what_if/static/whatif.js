// What if: each change of the form is shown at once, by the page itself, one question after the other.
"use strict";
(() => {
  const form = document.getElementById("what-if");
  const by = document.getElementById("by");
  const slide = document.getElementById("slide");
  const PAUSE = 120;
  let busy = false;
  let wanted = false;
  let timer = 0;

  const ask = async () => {
    if (busy) {
      wanted = true;
      return;
    }
    busy = true;
    wanted = false;
    const query = new URLSearchParams(new FormData(form));
    let wait = PAUSE;
    try {
      const answer = await fetch(`${location.pathname}?${query}`);
      if (answer.status === 429) {
        wait = 1000 * Number(answer.headers.get("retry-after") ?? 1);
        wanted = true;
      } else {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const shown = fresh.getElementById("outcome");
        if (shown && !wanted) {
          form.error.placeholder = fresh.querySelector("[name=error]").placeholder;
          document.getElementById("outcome").replaceChildren(...shown.childNodes);
          document.getElementById("outcome").dataset.shown = query;
          history.replaceState(null, "", `?${query}`);
        }
      }
    } catch {
      form.submit();
    }
    busy = false;
    if (wanted) timer = setTimeout(ask, wait);
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  };
  const number = () => Number(by.value.replace(",", ".").replace("−", "-")) || 0;
  const set = (value) => {
    by.value = Math.min(Math.max(value, Number(slide.min)), Number(slide.max));
    slide.value = by.value;
    soon();
  };
  for (const part of form.querySelectorAll("[hidden]")) part.hidden = false;
  slide.value = number();
  slide.addEventListener("input", () => set(Number(slide.value)));
  by.addEventListener("input", () => {
    slide.value = number();
    soon();
  });
  form.addEventListener("click", (event) => {
    const { step } = event.target.closest("[data-step]")?.dataset ?? {};
    if (step) set(number() + Number(step));
  });
  form.addEventListener("change", soon);
  form.error.addEventListener("input", soon);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    soon();
  });
})();
