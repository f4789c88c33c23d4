"use strict";
(() => {
  const frame = document.querySelector(".window"), plot = document.querySelector(".plot");
  const pointer = document.getElementById("pointer"), reading = document.getElementById("reading");
  const buttons = [...document.querySelectorAll(".zoom button")];
  const data = JSON.parse(document.getElementById("readings").textContent);
  const silent = reading.textContent;

  let zoom = 1;
  function magnify(to, part, offset) {
    zoom = to;
    plot.setAttribute("width", 100 * to + "%");
    plot.dataset.zoom = to;
    frame.scrollLeft = part * plot.clientWidth - offset;
    for (const b of buttons) b.setAttribute("aria-pressed", String(Number(b.value) === to));
  }
  for (const b of buttons) {
    b.addEventListener("click", () => {
      const half = frame.clientWidth / 2;
      magnify(Number(b.value), (frame.scrollLeft + half) / plot.clientWidth, half);
    });
  }
  document.querySelector(".zoom").hidden = false;
  magnify(1, 0, 0);
  frame.addEventListener("wheel", (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    const x = e.clientX - frame.getBoundingClientRect().left;
    const to = Math.min(32, Math.max(1, e.deltaY < 0 ? zoom * 2 : zoom / 2));
    if (to !== zoom) magnify(to, (frame.scrollLeft + x) / plot.clientWidth, x);
  }, { passive: false });

  const time = (us) => us < 1000 ? us + " µs" : us < 1e6 ? (us / 1000).toPrecision(3) + " ms" : (us / 1e6).toPrecision(3) + " s";
  frame.addEventListener("mousemove", (e) => {
    const box = plot.getBoundingClientRect();
    const part = (e.clientX - box.left) / box.width;
    const i = Math.min(data.buckets - 1, Math.max(0, Math.floor(part * data.buckets)));
    pointer.setAttribute("x1", 100 * part + "%");
    pointer.setAttribute("x2", 100 * part + "%");
    pointer.setAttribute("visibility", "visible");
    const said = [(i * data.bucket / 1e6).toFixed(2) + " s, for " + time(data.bucket)];
    for (const lane of data.lanes || []) {
      const n = [lane.ok[i], lane.fail[i], lane.unknown[i]];
      if (n[0] + n[1] + n[2] > 0) said.push(lane.name + " " + n[0] + " ok" + (n[1] ? ", " + n[1] + " failed" : "") + (n[2] ? ", " + n[2] + " unknown" : ""));
    }
    if (data.max[i]) said.push("p50 " + time(data.p50[i]) + ", p99 " + time(data.p99[i]) + ", max " + time(data.max[i]));
    if (data.lost[i]) said.push("unknown after " + time(data.lost[i]));
    reading.textContent = said.join(" · ");
  });
  frame.addEventListener("mouseleave", () => {
    pointer.setAttribute("visibility", "hidden");
    reading.textContent = silent;
  });

  function show() {
    const place = /^#place-\d+$/.test(location.hash) && document.querySelector(location.hash + " line");
    if (!place) return;
    const part = parseFloat(place.getAttribute("x1")) / 100;
    magnify(Math.max(zoom, 8), part, frame.clientWidth / 2);
    document.getElementById("timeline").scrollIntoView();
  }
  window.addEventListener("hashchange", show);
  window.addEventListener("load", show);
})();
