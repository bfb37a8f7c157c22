// Light, dark, or the device's theme; runs before the first paint, so that nothing flashes.
"use strict";
(() => {
  const root = document.documentElement;
  const order = ["auto", "light", "dark"];
  const kept = () => {
    try {
      return order.includes(localStorage.theme) ? localStorage.theme : "auto";
    } catch {
      return "auto";
    }
  };
  const show = (theme) => {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };
  show(kept());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const label = button.getAttribute("aria-label");
    const name = () => button.setAttribute("aria-label", `${label}: ${button.dataset[kept()]}`);
    button.hidden = false;
    name();
    button.addEventListener("click", () => {
      const next = order[(order.indexOf(kept()) + 1) % order.length];
      try {
        localStorage.theme = next;
      } catch {
        // A browser without storage keeps it until the page is left.
      }
      show(next);
      name();
    });
  });
})();
