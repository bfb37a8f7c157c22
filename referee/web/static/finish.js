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
  // The pictures, one at a time: a line on the time strip follows the present instant.
  const viewer = document.querySelector("dialog.viewer");
  const frames = [...document.querySelectorAll("a[data-frame]")];
  const SLOW = 10;
  if (viewer && frames.length) {
    const { start, stop, left, right } = viewer.dataset;
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
    cursor.setAttribute("class", "s-finish");
    cursor.setAttribute("stroke-width", "6");
    cursor.setAttribute("y1", "24");
    cursor.setAttribute("y2", "116");
    viewer.querySelector(".strip").append(cursor);
    let at = 0;
    let timer = 0;
    const when = (place) => Number(frames[place].dataset.frame);
    const show = (place) => {
      at = Math.min(Math.max(place, 0), frames.length - 1);
      const inner = frames[at].querySelector("img");
      [viewer.querySelector("img").src, viewer.querySelector("img").alt] = [frames[at].href, inner.alt];
      viewer.querySelector("p").textContent = inner.alt;
      const x = Number(left) + ((when(at) - start) / (stop - start)) * (right - left);
      for (const end of ["x1", "x2"]) cursor.setAttribute(end, x);
    };
    const rest = () => {
      clearTimeout(timer);
      timer = 0;
    };
    const play = () => {
      if (at === frames.length - 1) {
        timer = 0;
        return;
      }
      timer = setTimeout(() => {
        show(at + 1);
        play();
      }, ((when(at + 1) - when(at)) / 1e6) * SLOW);
    };
    const acts = {
      back: () => show(at - 1),
      on: () => show(at + 1),
      close: () => viewer.close(),
      play: () => {
        if (at === frames.length - 1) show(0);
        play();
      },
    };
    frames.forEach((frame, place) =>
      frame.addEventListener("click", (event) => {
        event.preventDefault();
        show(place);
        viewer.showModal();
      }));
    viewer.addEventListener("close", rest);
    viewer.addEventListener("click", (event) => {
      const { act } = event.target.closest("[data-act]")?.dataset ?? {};
      if (!act) return;
      const playing = timer !== 0;
      rest();
      if (act !== "play" || !playing) acts[act]();
    });
    viewer.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      rest();
      show(at + step);
      event.preventDefault();
      event.stopPropagation();
    });
  }
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("input, .scroll")) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (rel) document.querySelector(`a[rel=${rel}]`)?.click();
  });
})();
