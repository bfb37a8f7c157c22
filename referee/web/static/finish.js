// The photo-finish: files in the theme that is on the screen, and arrow keys from slap to slap.
"use strict";
(() => {
  const dark = () =>
    document.documentElement.dataset.theme === "dark" ||
    (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  for (const link of document.querySelectorAll("a[data-themed]")) {
    const plain = link.href;
    const aim = () => {
      link.href = `${plain}&theme=${dark() ? "dark" : "light"}`;
    };
    link.addEventListener("pointerdown", aim);
    link.addEventListener("focus", aim);
  }
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("input, .scroll")) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (rel) document.querySelector(`a[rel=${rel}]`)?.click();
  });
})();
