// Marks people's verdicts in shadow mode, on a device that is paired; the page shows the game once it is over.
"use strict";
(async () => {
  const marks = document.getElementById("marks");
  setInterval(async () => {
    const got = await fetch("/", { headers: { Accept: "text/html" } }).catch(() => null);
    if (got?.ok && !(await got.text()).includes('id="marks"')) location.reload();
  }, 5000);
  if (!(await Asking.look()).paired) return;
  document.getElementById("unpaired").remove();
  marks.hidden = false;
  for (const button of marks.children) {
    button.addEventListener("click", () => Asking.control("mark", { verdict: button.dataset.verdict }));
  }
})();
