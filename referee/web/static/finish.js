// The photo-finish: files in the theme that is on the screen, its SVG as PNG, and arrow keys from slap to slap.
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
  const save = async (address, name) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    canvas.getContext("2d").drawImage(image, 0, 0);
    canvas.toBlob((blob) => {
      const link = document.createElement("a");
      [link.href, link.download] = [URL.createObjectURL(blob), name];
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    }, "image/png");
  };
  for (const link of document.querySelectorAll("a[data-png]")) {
    link.hidden = false;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      save(link.href, link.dataset.png);
    });
  }
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("input, .scroll")) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (rel) document.querySelector(`a[rel=${rel}]`)?.click();
  });
})();
