"use strict";
// A tree of regions: choose a region and it fills the width; arrow keys move, Enter chooses, Escape goes back.
(function () {
  function icicle(svg) {
    const WIDTH = 1000, LETTER = 6.2;
    const regions = [...svg.querySelectorAll(".region")].map((node) => ({
      node, x: Number(node.dataset.x), w: Number(node.dataset.w), d: Number(node.dataset.d), label: node.dataset.label,
      rect: node.querySelector("rect"), text: node.nextElementSibling,
    }));
    if (!regions.length) return;
    svg.setAttribute("role", "group");
    const zoom = (target) => {
      for (const region of regions) {
        const left = Math.max(0, (region.x - target.x) / target.w), right = Math.min(1, (region.x + region.w - target.x) / target.w);
        const inside = right - left > 1e-9;
        region.node.style.display = region.text.style.display = inside ? "" : "none";
        if (!inside) continue;
        const width = Math.max(0.5, WIDTH * (right - left) - 1), letters = Math.floor((width - 8) / LETTER);
        region.rect.setAttribute("x", WIDTH * left);
        region.rect.setAttribute("width", width);
        region.text.setAttribute("x", WIDTH * left + 5);
        region.text.textContent = letters < 4 ? "" : region.label.length <= letters ? region.label : region.label.slice(0, letters - 1) + "…";
      }
    };
    let current = regions[0];
    const focus = (region) => {
      if (!region) return;
      current.node.setAttribute("tabindex", "-1");
      current = region;
      current.node.setAttribute("tabindex", "0");
      current.node.focus();
    };
    const visible = (region) => region.node.style.display !== "none";
    const near = (depth, step) => {
      const row = regions.filter((region) => region.d === depth && visible(region)).sort((a, b) => a.x - b.x);
      if (step) return row[row.indexOf(current) + step];
      return row.find((region) => region.x + region.w > current.x + 1e-9) || row[row.length - 1];
    };
    for (const region of regions) {
      region.node.setAttribute("tabindex", region === current ? "0" : "-1");
      region.node.setAttribute("role", "button");
      region.node.setAttribute("aria-label", region.node.querySelector("title").textContent);
      region.node.addEventListener("click", () => { zoom(region); focus(region); });
    }
    svg.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: () => near(current.d, 1), ArrowLeft: () => near(current.d, -1),
        ArrowDown: () => near(current.d + 1, 0),
        ArrowUp: () => regions.find((r) => r.d === current.d - 1 && r.x <= current.x + 1e-9 && r.x + r.w > current.x + 1e-9) };
      if (moves[event.key]) { event.preventDefault(); focus(moves[event.key]()); }
      else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); zoom(current); }
      else if (event.key === "Escape") { zoom(regions[0]); focus(regions[0]); }
    });
  }

  document.querySelectorAll("svg.icicle").forEach(icicle);
})();
