"use strict";
// The box for questions, and the tree of regions. Everything is made with textContent: names are never HTML.
(function () {
  const make = (name, attributes = {}, words = "") => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (words) node.textContent = words;
    return node;
  };
  const whole = (number) => Math.round(number).toLocaleString("en-US");

  let fields = 0;
  const labelled = (words, field) => {
    field.id = `field-${++fields}`;
    const box = make("div", { class: "field" });
    box.append(make("label", { for: field.id }, words), field);
    return box;
  };
  const choice = (labels, chosen, more = {}) => {
    const field = make("select", more);
    labels.forEach((label, place) => {
      const option = make("option", { value: place }, label);
      option.selected = place === chosen;
      field.append(option);
    });
    return field;
  };

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  const MOST = 3;

  function answerer(data, form, output) {
    const say = (held, columns, measured) => {
      const scale = data.held ? data.records / data.held : 0;
      const value = held * scale;
      const chance = data.held ? held / data.held : 0;
      const sampled = data.held < data.records ? 1.96 * Math.sqrt(data.held * chance * (1 - chance)) * scale : 0;
      output.replaceChildren(make("strong", {}, whole(value)), ` ${data.counted} of ${whole(data.records)}`);
      if (columns && measured !== null) {
        const error = Math.hypot(measured, sampled);
        output.append(`, 95 % interval ${whole(Math.max(0, value - error))} to ${whole(value + error)}`);
      } else if (columns) {
        output.append(`; ${data.unmeasured}`);
      }
      if (sampled) output.append(` (counted in ${whole(data.held)} of the records)`);
      output.append(".");
    };
    return say;
  }

  // How far a count is off, by its public scale (question_scale.py, widths.py); null where no 95 % interval exists.
  function tableError(data, groups, share, shares) {
    const { levels, large, singles, pairs, smallest, least } = data.error;
    const columns = groups.map(([column]) => column);
    if (new Set(columns).size < columns.length) return null;
    for (const [column, wanted] of groups) {
      const cells = new Set(data.columns[column].cells.filter((_, place) => wanted[place]));
      if (cells.size === 1 && !cells.has(-1)) return null; // inside one counted cell
    }
    const spread = (p) => { const q = Math.min(1 - smallest, Math.max(smallest, p)); return q * (1 - q); };
    const own = Math.sqrt(spread(share));
    if (columns.length < 2) return levels[0] === null ? null : levels[0] * Math.min(1, Math.sqrt(own / large));
    const near = new Set(data.error.together);
    let together = true, stated = large;
    for (const a of columns) for (const b of columns) {
      if (a >= b) continue;
      together = together && near.has(a * data.columns.length + b);
      const most = 2 * Math.sqrt(data.columns[a].spread * data.columns[b].spread);
      stated = Math.min(stated, Math.max(least, most));
    }
    const [one, two] = shares.map(spread).sort((a, b) => a - b);
    const tied = 2 * Math.sqrt(one * two);
    let widest = own;
    if (columns.length === 2 && !together && stated < large) { // as large as the error of A and not B: widths.py
      const [a, b] = columns, other = data.columns[a].spread <= data.columns[b].spread ? 1 : 0;
      widest = Math.max(own, Math.sqrt(spread(Math.max(0, shares[other] - share))));
    }
    const scale = columns.length > 2 ? Math.max(own, pairs * tied) : Math.max(singles * widest, tied);
    const level = levels[together ? 1 : 2];
    return level === null ? null : level * scale / stated;
  }

  async function tableBox(data, form, say) {
    if (typeof DecompressionStream === "undefined") {
      document.getElementById("answer").textContent = "This browser is too old to count here; use cantle query.";
      return;
    }
    const codes = await unpacked(data.data);
    const conditions = document.getElementById("conditions");
    const add = document.getElementById("add");
    const names = data.columns.map((column) => column.name);
    const count = () => {
      const groups = [];
      for (const box of conditions.children) {
        const column = Number(box.dataset.column);
        const wanted = new Uint8Array(256);
        const fields = box.querySelectorAll("select[data-part]");
        if (data.columns[column].ordered) {
          const [low, high] = [...fields].map((field) => Number(field.value));
          for (let place = Math.min(low, high); place <= Math.max(low, high); place++) wanted[place] = 1;
        } else {
          for (const option of fields[0].selectedOptions) wanted[Number(option.value)] = 1;
        }
        groups.push([column, wanted]);
      }
      let held = 0;
      const alone = groups.map(() => 0);
      for (let record = 0; record < data.held; record++) {
        let inside = 1;
        groups.forEach(([column, wanted], at) => {
          const one = wanted[codes[column * data.held + record]];
          alone[at] += one;
          inside &= one;
        });
        held += inside;
      }
      say(held, groups.length, tableError(data, groups, held / data.held, alone.map((count) => count / data.held)));
      add.hidden = conditions.children.length >= MOST;
    };
    const values = (box) => {
      const column = data.columns[Number(box.dataset.column)];
      box.querySelectorAll("[data-value]").forEach((node) => node.remove());
      const fields = column.ordered
        ? [["from", choice(column.labels, Math.floor(column.labels.length / 2))], ["to", choice(column.labels, column.labels.length - (column.nullable ? 2 : 1))]]
        : [["is one of", choice(column.labels, 0, { multiple: "", size: Math.min(6, column.labels.length) })]];
      for (const [words, field] of fields) {
        field.dataset.part = "";
        const label = labelled(words, field);
        label.dataset.value = "";
        box.insertBefore(label, box.lastChild);
      }
    };
    const condition = (place) => {
      const box = make("fieldset", { class: "condition" });
      box.append(make("legend", { class: "hidden" }, "Condition"));
      const column = choice(names, place);
      box.dataset.column = place;
      const remove = make("button", { type: "button" }, "Remove");
      box.append(labelled("column", column), remove);
      values(box);
      column.addEventListener("change", () => { box.dataset.column = column.value; values(box); count(); });
      remove.addEventListener("click", () => { box.remove(); count(); add.focus(); });
      conditions.append(box);
    };
    form.addEventListener("change", count);
    add.addEventListener("click", () => { condition(Math.min(conditions.children.length, names.length - 1)); count(); });
    condition(0);
    count();
  }

  function setBox(data, form, say) {
    const conditions = document.getElementById("conditions");
    const box = make("fieldset", { class: "condition" });
    box.append(make("legend", { class: "hidden" }, "Items"));
    const fields = [0, 1, 2].map((number) => choice(["any", ...data.items], number === 0 ? 1 : 0));
    fields.forEach((field, number) => box.append(labelled(number ? "and" : "holds", field)));
    conditions.append(box);
    const count = () => {
      let wanted = 0;
      for (const field of fields) if (Number(field.value)) wanted |= 1 << (Number(field.value) - 1);
      let held = 0, items = 0;
      for (let bits = wanted; bits; bits &= bits - 1) items++;
      const [masks, counts] = data.patterns;
      for (let place = 0; place < masks.length; place++) if ((masks[place] & wanted) === wanted) held += counts[place];
      say(held, items, data.error[items > 1 ? 1 : 0]);
    };
    form.addEventListener("change", count);
    count();
  }

  function degreeBox(data, form, say) {
    const conditions = document.getElementById("conditions");
    const box = make("fieldset", { class: "condition" });
    box.append(make("legend", { class: "hidden" }, "Degrees"));
    const [values, counts] = data.nodes;
    const most = values.length ? values[values.length - 1] : 0;
    const fields = [1, most].map((value) => make("input", { type: "number", min: 0, max: most, value }));
    fields.forEach((field, number) => box.append(labelled(number ? "to" : "degree from", field)));
    conditions.append(box);
    const count = () => {
      const [low, high] = fields.map((field) => Number(field.value));
      let held = 0;
      values.forEach((value, place) => { if (value >= low && value <= high) held += counts[place]; });
      say(held, 1, null);
    };
    form.addEventListener("input", count);
    count();
  }

  const BOXES = { table: tableBox, sets: setBox, graph: degreeBox };

  function ask() {
    const source = document.getElementById("ask-data");
    if (!source) return;
    const data = JSON.parse(source.textContent);
    const form = document.getElementById("ask-form");
    const say = answerer(data, form, document.getElementById("answer"));
    form.addEventListener("submit", (event) => event.preventDefault());
    BOXES[data.kind](data, form, say);
  }

  // ---- the icicle: choose a region and it fills the width; arrow keys move, Enter chooses, Escape goes back -------
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
  ask();
})();
