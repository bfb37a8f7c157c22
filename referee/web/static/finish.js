// The photo-finish: files in the theme on the screen, its SVG as PNG, and arrow keys to step through the slaps.
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
  const save = async (address, name, shared) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    canvas.getContext("2d").drawImage(image, 0, 0);
    canvas.toBlob((blob) => {
      // A phone shares the picture itself, if the page came by https.
      const file = new File([blob], name, { type: "image/png" });
      if (shared && navigator.canShare?.({ files: [file] })) {
        navigator.share({ files: [file] }).catch(() => {});
        return;
      }
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
      save(link.href, link.dataset.png, link.dataset.share !== undefined);
    });
  }
  // A picture opens in the replay, at its instant.
  const replay = document.querySelector("[data-replay]");
  if (replay) {
    for (const link of document.querySelectorAll("a[data-frame]")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        InstantReplay.open(replay.dataset.replay, { frame: link.dataset.frame });
      });
    }
    if (location.hash === "#replay") InstantReplay.open(replay.dataset.replay);
  }
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("input, .scroll")) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (rel) document.querySelector(`a[rel=${rel}]`)?.click();
  });
})();
