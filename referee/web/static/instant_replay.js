// The instant replay: the second around a slap from the camera's own frames, eight times slower, with the lanes running
// along underneath. Nothing is made up between two frames. One file holds a replay (photo_finish/instant_replay.py).
"use strict";
const InstantReplay = (() => {
  const SLOW = 8;
  const AT_THE_LINE = 1200;
  const VERDICT = 3000;
  const STILLS = 9000;
  // By itself a replay is over before the winner leads: ns around the card and before and after the line, stops in ms.
  const BRIEF = { card: 20e6, turned: 25e6, turning: 100e6, before: 60e6, after: 60e6, atLine: 400, verdict: 1000 };
  // The verdict is seen first; a replay that could not begin soon after it does not begin by itself.
  const SEEN = 400;
  const LATEST = 2500;
  const CLIP = { width: 720, height: 960, bits: 900_000, most: 2_000_000, again: 500 };
  // A browser that plays a replay (findLast: Safari 15.4) also records one of these (Safari 14.1), so there is no other format;
  // where a policy forbids recording, the page says so.
  const KINDS = ["video/mp4;codecs=avc1.42E01F", "video/webm;codecs=vp8", "video/webm", "video/mp4"];
  const dialog = document.getElementById("instant-replay");
  if (!dialog) return { open() {} };
  const canvas = dialog.querySelector("canvas");
  const crumb = dialog.querySelector("p");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  // A replay with its frames decoded; free() gives their memory back.
  const load = async (address, signal) => {
    const answer = await fetch(address, { signal });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const data = await answer.arrayBuffer();
    const length = new DataView(data).getUint32(0);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    let place = 4 + length;
    const frames = [];
    for (const frame of head.frames) {
      const jpeg = new Blob([new Uint8Array(data, place, frame.size)], { type: "image/jpeg" });
      place += frame.size;
      // A frame that cannot be decoded is left out, as one that was never taken.
      const image = await createImageBitmap(jpeg).catch(() => null);
      if (image) frames.push({ ...frame, image });
    }
    if (!frames.length) throw new Error("no frames");
    const faces = await Promise.all(head.cards.map(async ({ face }) => {
      const image = new Image();
      image.src = face;
      await image.decode().catch(() => {});
      return image;
    }));
    const hands = head.named.lanes.flatMap((lane) => lane.hands);
    const start = frames[0].at;
    // Playing begins with the card being turned up; earlier frames can be stepped to.
    const from = frames.find((frame) => frame.at >= head.from)?.at ?? start;
    const stop = Math.max(frames.at(-1).at + frames.at(-1).exposure, ...hands.map((hand) => hand.at + hand.error));
    return {
      address, head, frames, faces, hands, start, from, stop, bytes: data.byteLength,
      free: () => frames.forEach((frame) => frame.image.close()),
    };
  };

  // The latest frame at an instant.
  const placeAt = (film, now) => Math.max(0, film.frames.findLastIndex((frame) => frame.at <= now));

  // The spans that are played, ns, each with the stop after it, ms. In a brief replay the quiet time between the card and
  // the hands is cut out: all that is shown runs at the same speed.
  const spansOf = (film, brief) => {
    const line = Math.min(Math.max(0, film.from), film.stop);
    if (!brief) return [{ from: film.from, to: line, stay: AT_THE_LINE }, { from: line, to: film.stop, stay: VERDICT }];
    const end = { from: line, to: Math.min(film.stop, line + BRIEF.after), stay: BRIEF.verdict };
    const card = film.head.cards.findLast((one) => one.at <= line && one.at >= film.start);
    const up = card && film.frames.find((frame) => frame.at >= card.at);
    if (!up) return [{ from: Math.max(film.from, line - BRIEF.before), to: line, stay: BRIEF.atLine }, end];
    const from = Math.max(film.start, card.at - BRIEF.card);
    const turned = Math.min(up.at + BRIEF.turned, card.at + BRIEF.turning);
    if (turned >= line - BRIEF.before) return [{ from, to: line, stay: BRIEF.atLine }, end];
    return [{ from, to: turned, stay: 0 }, { from: line - BRIEF.before, to: line, stay: BRIEF.atLine }, end];
  };

  // Where a replay is after some milliseconds.
  const stateAfter = (film, elapsed, brief) => {
    const spans = spansOf(film, brief);
    for (const [place, { from, to, stay }] of spans.entries()) {
      const lasts = ((to - from) / 1e6) * SLOW;
      if (elapsed < lasts) return { now: from + (elapsed / SLOW) * 1e6 };
      elapsed -= lasts;
      const last = place === spans.length - 1;
      if (elapsed < stay || last) return last ? { now: film.stop, verdict: true, over: elapsed > stay } : { now: to, atLine: true };
      elapsed -= stay;
    }
  };

  // Three instants that tell a slap without motion: the card, the line, the last hand.
  const stills = (film) => {
    const card = film.head.cards.filter((one) => one.part).at(-1) ?? film.head.cards.at(-1);
    const last = Math.max(0, ...film.hands.map((hand) => hand.at));
    const turned = card ? film.frames.findIndex((frame) => frame.at >= card.at) : 0;
    const line = placeAt(film, 0);
    const down = Math.min(placeAt(film, last) + 1, film.frames.length - 1);
    return [Math.max(0, Math.min(turned, line)), line, down];
  };

  // Drawing
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const font = getComputedStyle(document.body).fontFamily;
    return { of: (role) => style.getPropertyValue(`--${role}`).trim() || "gray", font };
  };

  const write = (pen, ink, text, x, y, size, most, { align = "left", weight = 400, role = "ink", apart = false } = {}) => {
    pen.font = `${weight} ${size}px ${ink.font}`;
    const wide = pen.measureText(text).width;
    if (wide > most) pen.font = `${weight} ${Math.max(size * (most / wide), size * 0.4)}px ${ink.font}`;
    [pen.fillStyle, pen.textAlign, pen.textBaseline] = [ink.of(role), align, "alphabetic"];
    if (apart) {
      [pen.strokeStyle, pen.lineWidth, pen.lineJoin] = [ink.of("ground"), size * 0.3, "round"];
      pen.strokeText(text, x, y, most);
    }
    pen.fillText(text, x, y, most);
  };

  // Where pictures, words and lanes go; `shape`: a picture's width by its height.
  const layout = (width, height, many, lanes, shape) => {
    const edge = Math.round(Math.min(width, height) * 0.025);
    const full = width - 2 * edge;
    const box = (x, y, w, h) => ({ x, y, w, h });
    if (width > 1.15 * height) {
      // Eight lanes need room to be read from afar.
      const upper = many || lanes <= 4 ? 0.6 : 0.52;
      const below = box(edge, height * upper, full, height * (1 - upper) - edge);
      if (many) return { pictures: box(edge, edge, full, height * 0.36), side: box(edge, height * 0.4, full, height * 0.18), lanes: below };
      const high = height * (upper - 0.04);
      const wide = Math.min(width * 0.6, high * shape);
      return { pictures: box(edge, edge, wide, high), side: box(wide + 3 * edge, edge, width - wide - 4 * edge, high), lanes: below };
    }
    const top = many ? full / 4 : Math.min(full * 0.75, height * 0.42);
    const side = height * 0.2;
    return {
      pictures: box(edge, edge, full, top), side: box(edge, top + 2 * edge, full, side),
      lanes: box(edge, top + side + 3 * edge, full, height - top - side - 4 * edge),
    };
  };

  const drawPictures = (pen, ink, film, places, box) => {
    const gap = places.length > 1 ? box.w * 0.01 : 0;
    const wide = (box.w - gap * (places.length - 1)) / places.length;
    places.forEach((place, column) => {
      const { image, clock } = film.frames[place];
      const scale = Math.min(wide / image.width, box.h / image.height);
      const [w, h] = [image.width * scale, image.height * scale];
      const x = box.x + column * (wide + gap) + (wide - w) / 2;
      pen.imageSmoothingQuality = "high";
      pen.drawImage(image, x, box.y, w, h);
      if (places.length === 1) return;
      const size = Math.max(12, h * 0.07);
      pen.font = `700 ${size}px ${ink.font}`;
      pen.fillStyle = "#000a";
      pen.fillRect(x, box.y + h - size * 1.6, pen.measureText(clock).width + size, size * 1.6);
      pen.fillStyle = "#fff";
      [pen.textAlign, pen.textBaseline] = ["left", "alphabetic"];
      pen.fillText(clock, x + size / 2, box.y + h - size * 0.5);
    });
  };

  const drawSide = (pen, ink, film, state, words, box) => {
    const turned = film.head.cards.map((card, place) => ({ ...card, image: film.faces[place] })).filter((card) => card.at <= state.now);
    const beside = box.w > 2.2 * box.h;
    const high = beside ? box.h : box.h * 0.42;
    const wide = Math.min(high / 1.4, (beside ? box.w * 0.4 : box.w) / (1 + 0.6 * (film.head.cards.length - 1)));
    const from = beside ? box.x + box.w - wide * (1 + 0.6 * (film.head.cards.length - 1)) : box.x;
    turned.forEach(({ image }, place) => {
      if (!image.naturalWidth) return;
      const [left, top] = [from + place * wide * 0.6, beside ? box.y : box.y + box.h - wide * 1.4];
      pen.drawImage(image, left, top, wide, wide * 1.4);
      [pen.strokeStyle, pen.lineWidth] = ["#8888", Math.max(1, wide * 0.015)];
      pen.strokeRect(left, top, wide, wide * 1.4);
    });
    const most = beside ? from - box.x - wide * 0.2 : box.w;
    const size = beside ? box.h * 0.33 : box.h * 0.2;
    if (state.verdict) {
      write(pen, ink, words.who, box.x, box.y + size, size, most, { weight: 900, role: words.role });
      write(pen, ink, words.how, box.x, box.y + size * 2.05, size * 0.9, most, { weight: 900 });
      write(pen, ink, words.under, box.x, box.y + size * 2.75, size * 0.5, most);
    } else {
      write(pen, ink, state.clock, box.x, box.y + size, size, most, { weight: 900 });
      write(pen, ink, film.head.slow, box.x, box.y + size * 1.7, size * 0.45, most, { role: "soft" });
    }
  };

  const drawLanes = (pen, ink, film, state, words, box) => {
    const lanes = words.lanes;
    const foot = Math.min(box.h * 0.1, box.w * 0.045);
    const row = Math.min((box.h - foot) / Math.max(1, lanes.length), box.w * 0.16, box.h * 0.42);
    const size = Math.min(row * 0.6, box.w * 0.045);
    const bottom = box.y + row * lanes.length;
    pen.font = `700 ${size}px ${ink.font}`;
    const names = Math.max(0, ...lanes.map((lane) => pen.measureText(lane.name).width));
    const left = box.x + Math.min(box.w * 0.3, names + size);
    const right = box.x + box.w - size * 0.4;
    const x = (t) => left + ((t - film.start) / (film.stop - film.start)) * (right - left);
    const upright = (t, role, wide, dash = []) => {
      pen.setLineDash(dash);
      [pen.strokeStyle, pen.lineWidth] = [ink.of(role), wide];
      pen.beginPath();
      pen.moveTo(x(t), box.y);
      pen.lineTo(x(t), bottom);
      pen.stroke();
      pen.setLineDash([]);
    };
    const thin = Math.max(1, size * 0.06);
    for (let t = Math.ceil(film.start / 2e8) * 2e8; t <= film.stop; t += 2e8) {
      upright(t, "rule2", thin);
      write(pen, ink, `${t > 0 ? "+" : t < 0 ? "−" : ""}${Math.abs(t) / 1e6}${t ? "" : " ms"}`, x(t), bottom + foot * 0.8, foot * 0.6, box.w, { align: "center", role: "soft" });
    }
    for (const card of film.head.cards) if (card.at <= state.now && card.at >= film.start) upright(card.at, "good", thin * 2, [size * 0.2, size * 0.2]);
    if (state.now >= 0) upright(0, "ink", thin * 2.5);
    lanes.forEach((lane, place) => {
      const top = box.y + place * row;
      write(pen, ink, lane.name, box.x, top + row / 2 + size * 0.35, size, left - box.x - size * 0.5, { weight: 700, role: lane.role });
      pen.fillStyle = ink.of("rule2");
      pen.fillRect(left, top + row - thin, right - left, thin);
      for (const hand of lane.hands) {
        if (hand.at > state.now || hand.at < film.start) continue;
        pen.fillStyle = ink.of(lane.role);
        pen.globalAlpha = 0.25;
        pen.fillRect(x(hand.at), top + row * 0.3, x(Math.min(hand.lift ?? state.now, state.now)) - x(hand.at), row * 0.4);
        pen.globalAlpha = 0.5;
        pen.fillRect(x(hand.at - hand.error), top + row * 0.1, x(hand.at + hand.error) - x(hand.at - hand.error), row * 0.8);
        pen.globalAlpha = 1;
        pen.fillRect(x(hand.at) - thin, top + row * 0.05, thin * 2, row * 0.9);
      }
    });
    upright(Math.min(state.now, film.stop), "warn", thin * 2);
    // What they say is written last: no line crosses it out.
    lanes.forEach((lane, place) => {
      for (const hand of lane.hands) {
        if (hand.at > state.now || hand.at < film.start) continue;
        pen.font = `700 ${size * 0.8}px ${ink.font}`;
        const room = pen.measureText(hand.said).width + size;
        const after = x(hand.at + hand.error) + room < right;
        write(pen, ink, hand.said, after ? x(hand.at + hand.error) + size * 0.4 : x(hand.at - hand.error) - size * 0.4,
          box.y + place * row + row / 2 + size * 0.3, size * 0.8, room, { align: after ? "left" : "right", weight: 700, apart: true });
      }
    });
  };

  const paint = (target, film, state, words) => {
    const { width, height } = target;
    const pen = target.getContext("2d");
    const ink = colours();
    const places = state.places ?? [placeAt(film, state.now)];
    const { image } = film.frames[places[0]];
    const parts = layout(width, height, places.length > 1, words.lanes.length, image.width / image.height);
    pen.fillStyle = ink.of("ground");
    pen.fillRect(0, 0, width, height);
    drawPictures(pen, ink, film, places, parts.pictures);
    drawSide(pen, ink, film, { ...state, clock: film.frames[places[0]].clock }, words, parts.side);
    drawLanes(pen, ink, film, state, words, parts.lanes);
    return places;
  };

  // Playing
  let film = null;
  let asked = null;
  let elapsed = 0;
  let ticking = 0;
  let timer = 0;
  let auto = false;
  let state = { now: 0 };
  let clipped = null;
  let refreshed = false;

  // What is drawn: what a clip gets while it is made; else the board knows the present verdict on its latest slap.
  const words = () => {
    if (clipped) return clipped;
    const shown = [...document.querySelectorAll("#winner .verdict")].find((one) => one.dataset.film === film.address);
    const said = (part) => shown?.querySelector(part)?.textContent ?? "";
    return shown ? { ...film.head.named, who: said(".who"), how: said(".how"), under: said(".under") } : film.head.named;
  };

  const draw = () => {
    if (!film) return;
    const scale = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const places = paint(canvas, film, state, words());
    canvas.dataset.t = places.map((place) => film.frames[place].t).join(" ");
    canvas.dataset.verdict = String(Boolean(state.verdict));
  };

  const rest = () => {
    cancelAnimationFrame(ticking);
    clearTimeout(timer);
    ticking = 0;
  };

  // A replay begins before the last frames and the slowest phones' hands are in: they come while it plays.
  const refresh = async () => {
    refreshed = true;
    const shown = film;
    const fresh = await load(shown.address, asked.signal).catch(() => null);
    if (!fresh) return;
    if (film !== shown || clipped) {
      fresh.free();
      return;
    }
    film = fresh;
    shown.free();
    describe();
  };
  const describe = () => {
    canvas.setAttribute("aria-label", film.head.named.said);
    const played = film.frames.filter((frame) => frame.at >= film.from).length;
    Object.assign(dialog.dataset, { slap: film.head.slap, bytes: film.bytes, frames: film.frames.length, played });
  };

  const run = () => {
    rest();
    if (calm.matches) {
      state = { now: film.stop, verdict: true, places: stills(film) };
      draw();
      if (auto) timer = setTimeout(close, STILLS);
      return;
    }
    if (stateAfter(film, elapsed, auto).over) elapsed = 0;
    let last = performance.now();
    const tick = (time) => {
      elapsed += Math.max(0, time - last);
      last = time;
      state = stateAfter(film, elapsed, auto);
      if (state.atLine && auto && !refreshed) refresh();
      draw();
      if (!state.over) ticking = requestAnimationFrame(tick);
      else {
        ticking = 0;
        if (auto) close();
      }
    };
    ticking = requestAnimationFrame(tick);
  };

  // Playing goes on from this instant, at length.
  const goOnFrom = (at) => {
    auto = false;
    elapsed = (Math.max(0, at - film.from) / 1e6) * SLOW + (at > 0 ? AT_THE_LINE : 0);
  };

  // One frame back or on; what is read out follows only steps.
  const step = (by) => {
    rest();
    const place = Math.min(Math.max(placeAt(film, state.now) + by, 0), film.frames.length - 1);
    show(place);
  };
  const show = (place) => {
    const { at, said } = film.frames[place];
    state = { now: at, verdict: place === film.frames.length - 1 };
    goOnFrom(at);
    crumb.textContent = said;
    draw();
  };

  const release = () => {
    rest();
    asked?.abort();
    film?.free();
    [film, asked, auto, clipped] = [null, null, false, null];
    crumb.textContent = "";
    delete canvas.dataset.t;
  };
  const close = () => {
    const wasAuto = auto;
    release();
    if (dialog.open) dialog.close();
    if (wasAuto && typeof Winner !== "undefined") Winner.end();
  };

  // Loads and plays a replay; by itself only where nothing else has the screen.
  const open = async (address, { byItself = false, frame = null } = {}) => {
    release();
    const own = new AbortController();
    asked = own;
    let got = null;
    try {
      got = await load(address, own.signal);
    } catch (error) {
      if (own.signal.aborted || byItself) return;
    }
    if (own.signal.aborted) {
      got?.free();
      return;
    }
    [film, auto, elapsed, refreshed] = [got, byItself, 0, false];
    if (!dialog.open) {
      // What plays by itself takes no focus, and its words are read out on the board.
      if (byItself) dialog.setAttribute("open", "");
      else dialog.showModal();
    }
    dialog.toggleAttribute("aria-hidden", false);
    if (byItself) dialog.setAttribute("aria-hidden", "true");
    dialog.classList.toggle("auto", byItself);
    dialog.classList.toggle("empty", !film);
    if (!film) {
      crumb.textContent = dialog.dataset.gone;
      return;
    }
    if (byItself && typeof Winner !== "undefined") Winner.rest();
    describe();
    if (frame === null) run();
    else show(Math.max(0, film.frames.findIndex((one) => String(one.at) === frame)));
  };

  // A clip: every frame for as long as it is shown, the line, and the verdict.
  const record = async (named) => {
    const kind = typeof MediaRecorder === "undefined" || !canvas.captureStream ? undefined : KINDS.find((one) => MediaRecorder.isTypeSupported(one));
    if (!kind) {
      crumb.textContent = dialog.dataset.noClip;
      return;
    }
    const shown = film;
    const said = named ? shown.head.named : shown.head.nameless;
    clipped = said;
    const target = document.createElement("canvas");
    [target.width, target.height] = [CLIP.width, CLIP.height];
    const states = [];
    const lasting = (ns) => (ns / 1e6) * SLOW;
    const played = shown.frames.filter((frame) => frame.at >= shown.from);
    played.forEach(({ at }, place) => {
      const next = played[place + 1]?.at ?? shown.stop;
      if (at <= 0 && next > 0) {
        states.push([{ now: at }, lasting(-at)], [{ now: 0 }, AT_THE_LINE + lasting(next)]);
      } else states.push([{ now: at }, lasting(next - at)]);
    });
    // The last picture is repeated: a player stops at the last one that it has.
    for (let past = 0; past < VERDICT; past += CLIP.again) states.push([{ now: shown.stop, verdict: true }, CLIP.again]);
    paint(target, shown, states[0][0], said);
    const stream = target.captureStream(0);
    const track = stream.getVideoTracks()[0];
    // Firefox has it on the stream.
    const shutter = track.requestFrame ? track : stream;
    const recorder = new MediaRecorder(stream, { mimeType: kind, videoBitsPerSecond: CLIP.bits });
    const parts = [];
    recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
    const ended = new Promise((done) => recorder.addEventListener("stop", done, { once: true }));
    crumb.textContent = dialog.dataset.making.replace("{left}", Math.ceil(states.reduce((sum, [, ms]) => sum + ms, 0) / 1000));
    recorder.start();
    let due = performance.now();
    for (const [at, lasts] of states) {
      if (film !== shown) break;
      state = at;
      paint(target, shown, at, said);
      shutter.requestFrame();
      draw();
      due += lasts;
      await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())));
    }
    recorder.stop();
    await ended;
    track.stop();
    // Closed meanwhile: nothing is kept.
    if (film !== shown) return;
    clipped = null;
    const clip = new Blob(parts, { type: kind.split(";")[0] });
    dialog.dataset.clip = clip.size;
    if (clip.size > CLIP.most) {
      crumb.textContent = dialog.dataset.tooLarge;
      return;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(clip);
    link.download = `slap-${shown.head.game}-${shown.head.slap.replace(/[^a-z0-9]/gi, "-")}.${clip.type.split("/")[1]}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    crumb.textContent = dialog.dataset.made;
  };

  const acts = {
    back: () => step(-1),
    on: () => step(1),
    play: () => (ticking ? rest() : run()),
    close,
    clip: async () => {
      rest();
      const button = dialog.querySelector("[data-act=clip]");
      button.disabled = true;
      await record(dialog.querySelector("[data-names]").checked).finally(() => (button.disabled = false));
    },
  };
  dialog.addEventListener("click", (event) => {
    const { act } = event.target.closest("[data-act]")?.dataset ?? {};
    if (!act || (!film && act !== "close")) return;
    if (act !== "close" && auto) goOnFrom(state.now);
    acts[act]();
  });
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    close();
  });
  addEventListener("keydown", (event) => {
    if (!dialog.open || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest?.("input:not([type=checkbox]), select, textarea")) return;
    const act = { ArrowLeft: "back", ArrowRight: "on", Escape: "close", " ": "play" }[event.key];
    if (!act || (event.key === " " && event.target.closest?.("button, input, a, summary"))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (act === "close") close();
    else if (film) {
      if (auto) goOnFrom(state.now);
      acts[act]();
    }
  });
  addEventListener("resize", draw);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-replay]");
    if (button) open(button.dataset.replay);
  });

  // On the scoreboard: a slap that was decided before these eyes is played once, unless a card has been laid since.
  const switched = document.getElementById("replays");
  const wanted = () => {
    try {
      return localStorage.replays !== "off";
    } catch {
      return true;
    }
  };
  let on = wanted();
  if (switched) {
    const label = () => {
      switched.setAttribute("aria-pressed", String(on));
      switched.textContent = on ? switched.dataset.on : switched.dataset.off;
    };
    switched.hidden = false;
    label();
    switched.addEventListener("click", () => {
      on = !on;
      if (!on && auto) close();
      try {
        localStorage.replays = on ? "on" : "off";
      } catch {
        // Without storage, the choice lasts until the page is left.
      }
      label();
    });
  }
  let newest = "";
  let decided = null;
  let noticed = "";
  let offered = { t: "", card: "" };
  document.addEventListener("regions", (event) => {
    const { first } = event.detail;
    const key = document.querySelector("#pile .card.newest")?.dataset.key ?? "";
    const [card, before] = [key, newest].map((text) => text.slice(text.indexOf(":") + 1));
    // Cards burned under the pile move the newest one up.
    const laid = key !== "" && (card === "??" ? key !== newest : card !== before);
    newest = key;
    if (laid || first) {
      decided = null;
      if (auto || (asked && !film) || document.body.classList.contains("projector")) close();
    }
    const verdict = document.querySelector("#winner [data-t]:not(.over)");
    if (!verdict) return;
    const { t, card: slapped = "", film: address = "" } = verdict.dataset;
    if (first) {
      [noticed, offered] = [t, { t, card: slapped }];
      return;
    }
    // The card and its slap may come together: it is not a later one.
    const top = document.querySelector("#pile .card.newest")?.alt;
    if (t !== noticed && (!top || top === verdict.dataset.on)) decided = { t, at: performance.now() };
    noticed = t;
    if (!address || t === offered.t) return;
    // A dead heat that is settled was played already: its hands fell on the same card.
    const known = slapped !== "" && slapped === offered.card;
    offered = { t, card: slapped };
    if (!switched || !on || known || (dialog.open && !auto) || decided?.t !== t || performance.now() - decided.at > LATEST) return;
    const own = decided;
    setTimeout(() => decided === own && open(address, { byItself: true }), SEEN - (performance.now() - own.at));
  });

  return { open };
})();
