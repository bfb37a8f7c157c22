// Puts fresh HTML into a region and leaves unchanged parts alone, so that focus, selection and screen readers are not
// disturbed.
"use strict";
const Regions = (() => {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  const appear = (element) => {
    if (calm.matches || !element.animate) return;
    const card = element.classList.contains("card");
    const from = card ? { opacity: 0, translate: "0 -60px", rotate: "8deg" } : { opacity: 0, translate: "0 -6px" };
    element.animate([from, {}], { duration: card ? 220 : 260, easing: "ease-out" });
  };

  const sync = (parent, fresh, first) => {
    const old = new Map();
    for (const child of parent.children) if (child.dataset.key) old.set(child.dataset.key, child);
    const wanted = [];
    for (const child of [...fresh.children]) {
      const same = old.get(child.dataset.key);
      if (!same) {
        wanted.push(child);
        continue;
      }
      if (same.outerHTML === child.outerHTML) wanted.push(same);
      else if (child.dataset.keyed !== undefined && same.tagName === child.tagName) {
        sync(same, child, first);
        wanted.push(same);
      } else wanted.push(child);
    }
    const keep = new Set(wanted);
    for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
    wanted.forEach((child, place) => {
      if (parent.children[place] === child) return;
      const known = child.isConnected || old.has(child.dataset.key);
      parent.insertBefore(child, parent.children[place] ?? null);
      if (!known && !first) appear(child);
    });
    if (!fresh.children.length && fresh.textContent.trim()) parent.textContent = fresh.textContent;
  };

  return {
    // Changes to fresh content before it is compared with the present one.
    dress() {},
    show(id, html, first = false) {
      const region = document.getElementById(id);
      if (!region) return;
      const template = document.createElement("template");
      template.innerHTML = html;
      this.dress(template.content);
      if (region.dataset.keyed !== undefined && [...template.content.children].every((c) => c.dataset.key)) {
        sync(region, template.content, first);
        return;
      }
      const focused = region.contains(document.activeElement);
      region.replaceChildren(template.content);
      if (focused) region.querySelector("a, button")?.focus({ preventScroll: true });
    },
  };
})();
