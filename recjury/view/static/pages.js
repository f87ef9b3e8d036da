// recjury's pages: theme, keys, sorting and filtering of what is on the page, evidence, the debate, live figures.
// Everything is readable without it. No dependency, nothing is fetched but /events while something runs.
"use strict";
const root = document.documentElement;
root.classList.add("js");
try { const kept = localStorage.getItem("theme"); if (kept) root.dataset.theme = kept; } catch { /* storage is off */ }
const $ = (query, from = document) => from.querySelector(query);
const $$ = (query, from = document) => [...from.querySelectorAll(query)];
const still = matchMedia("(prefers-reduced-motion: reduce)");

// theme -------------------------------------------------------------------
function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; }
function theme() {
  const button = $("[data-do=theme]");
  const show = () => { button.textContent = isDark() ? "light" : "dark"; button.setAttribute("aria-label", `Switch to the ${button.textContent} theme`); };
  button.hidden = $("[data-do=help]").hidden = false;
  show();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage is off */ }
    show();
  });
}

// rows: j, k, Enter -------------------------------------------------------
const rows = () => {
  const details = $$("[data-rows=details] > details");
  return details.length ? details : $$("[data-rows] tbody tr").filter((row) => !row.hidden);
};
function choose(step) {
  const all = rows();
  if (!all.length) return;
  const now = all.findIndex((row) => row.classList.contains("at"));
  const next = all[Math.min(Math.max(now < 0 ? (step > 0 ? 0 : all.length - 1) : now + step, 0), all.length - 1)];
  all.forEach((row) => row.classList.toggle("at", row === next));
  next.scrollIntoView({ block: "nearest" });
  if (next.matches(".rating")) next.open = true;
  (next.matches("details") ? $("summary", next) : $("a.go", next) || next).focus({ preventScroll: true });
}
function open_() {
  const row = rows().find((one) => one.classList.contains("at"));
  if (!row) return false;
  if (row.matches("details")) row.open = !row.open; else $("a.go", row).click();
  return true;
}

function clickable() { // a click anywhere on a row opens it, but for links and selected text
  for (const list of $$("table[data-rows]")) {
    list.classList.add("ready");
    list.addEventListener("click", (event) => {
      const row = event.target.closest("tbody tr");
      if (row && !event.target.closest("a") && !String(getSelection())) $("a.go", row).click();
    });
  }
}

// sorting and filtering what is on the page -------------------------------
const value = (row, index) => { const cell = row.cells[index]; const v = cell.dataset.v ?? cell.textContent.trim(); return v !== "" && !isNaN(v) ? Number(v) : v; };
function sort(header, descending) {
  const table = header.closest("table"), index = header.cellIndex;
  $$("th[aria-sort]", table).forEach((th) => th.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  for (const body of table.tBodies) {
    const sorted = [...body.rows].filter((row) => !row.classList.contains("dim")).sort((a, b) => {
      const x = value(a, index), y = value(b, index);
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
      return descending ? -order : order;
    });
    body.append(...sorted);
  }
  const said = $("[data-sorted]");
  if (said) said.textContent = `by ${($("a", header).title || $("a", header).textContent).toLowerCase()}, ${descending ? "highest" : "lowest"} first`;
}
function sortable() {
  for (const table of $$("table[data-sortable]")) table.addEventListener("click", (event) => {
    const header = event.target.closest("th[data-sort]");
    if (!header) return;
    event.preventDefault();
    const descending = header.hasAttribute("aria-sort") ? header.getAttribute("aria-sort") === "ascending" : header.classList.contains("n") || header.classList.contains("f");
    sort(header, descending);
    keep("sort", (descending ? "-" : "") + new URL($("a", header).href).searchParams.get("sort").replace(/^-/, ""));
  });
}
function keep(name, v) {
  const address = new URL(location);
  if (v) address.searchParams.set(name, v); else address.searchParams.delete(name);
  history.replaceState(null, "", address);
}
function filterable() {
  const form = $("form[data-filter]");
  if (!form) return;
  const query = new URL(location).searchParams;
  for (const field of form.elements) if (field.name && query.has(field.name)) field.value = query.get(field.name);
  const apply = () => {
    const words = (form.elements.q?.value || "").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of $$(`${form.dataset.filter} tbody tr`)) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) || [...form.elements].some((f) => f.name && f.name !== "q" && f.name in row.dataset && f.value && !row.dataset[f.name].includes(f.value));
      shown += !row.hidden;
    }
    found(form, words);
    const count = $("[data-count]"), none = $(".none-left");
    if (count) count.textContent = shown;
    if (none) none.hidden = shown > 0;
    for (const field of form.elements) if (field.name) field.classList.toggle("changed", Boolean(field.value) && !(field.options && field.options[0].value));
  };
  form.addEventListener("input", () => { apply(); for (const f of form.elements) if (f.name) keep(f.name, f.options?.[0].value ? "" : f.value); });
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  apply();
  const by = query.get("sort");
  if (by) {
    const header = $$("th[data-sort]").find((th) => new URL($("a", th).href).searchParams.get("sort").replace(/^-/, "") === by.replace(/^-/, ""));
    if (header) sort(header, by.startsWith("-"));
  }
}

function found(form, words) {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  const ranges = [];
  if (words.length) for (const cell of $$(`${form.dataset.filter} tbody tr:not([hidden]) :is(.said, .sub, .go)`)) for (const node of cell.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE) continue;
    const text = node.data.toLowerCase();
    for (const word of words) for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      const range = new Range();
      range.setStart(node, at); range.setEnd(node, at + word.length); ranges.push(range);
    }
  }
  if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
}
function parts() { // the next rows of a long table: the same page, its address says from where
  const link = $("[data-more]");
  link?.addEventListener("click", async (event) => {
    if (!location.protocol.startsWith("http")) return;
    event.preventDefault();
    const page = new DOMParser().parseFromString(await (await fetch(link.href)).text(), "text/html");
    $("[data-rows] tbody").append(...$$("[data-rows] tbody tr", page));
    const next = $("[data-more]", page);
    if (next) link.href = next.href; else link.remove();
  });
}

// evidence ----------------------------------------------------------------
function evidence() {
  const ratings = $$("details.rating");
  if (!ratings.length) return;
  const show = () => {
    const on = new Set(ratings.filter((one) => one.open).map((one) => one.dataset.m));
    for (const mark of $$("mark[data-m]")) mark.classList.toggle("on", mark.dataset.m.split(" ").some((name) => on.has(name)));
  };
  for (const one of ratings) one.addEventListener("toggle", () => {
    show();
    if (!one.open) return;
    keep("metric", one.dataset.m);
    const first = $(`mark.on[data-m~="${one.dataset.m}"]`), box = first?.getBoundingClientRect();
    if (box && matchMedia("(min-width: 1000px)").matches && ready && (box.top < 60 || box.bottom > innerHeight)) first.scrollIntoView({ block: "center", behavior: still.matches ? "auto" : "smooth" });
  });
  for (const mark of $$("mark[data-m]")) mark.addEventListener("click", () => { const one = $(`details[data-m="${mark.dataset.m.split(" ")[0]}"]`); one.open = true; $("summary", one).focus(); });
  const asked = $(`details[data-m="${CSS.escape(new URL(location).searchParams.get("metric") || "")}"]`);
  if (asked) asked.open = true;
  show();
}
let ready = false;

// the debate --------------------------------------------------------------
function debate(part) {
  const last = Number(part.dataset.rounds), discs = $$(".d", part), legs = $$(".leg", part), play = $("[data-do=play]", part);
  for (const leg of legs) { leg.ends = { x: parseFloat(leg.getAttribute("x2")), y: parseFloat(leg.getAttribute("y2")) }; leg.from = { x: parseFloat(leg.getAttribute("x1")), y: parseFloat(leg.getAttribute("y1")) }; }
  let round = last, timer = 0, frame = 0;
  const put = (leg, disc, part_) => {
    const x = leg.from.x + (leg.ends.x - leg.from.x) * part_, y = leg.from.y + (leg.ends.y - leg.from.y) * part_;
    leg.setAttribute("x2", `${x}%`); leg.setAttribute("y2", y); disc.setAttribute("x", `${x}%`); disc.setAttribute("y", y);
  };
  const movers = (r) => legs.filter((leg) => Number(leg.dataset.r) === r).map((leg) => [leg, discs.find((d) => d.dataset.r === leg.dataset.r && d.dataset.role === leg.dataset.role)]);
  function show(to, moving) {
    cancelAnimationFrame(frame);
    for (let r = 2; r <= last; r += 1) for (const [leg, disc] of movers(r)) put(leg, disc, 1);
    round = Math.min(Math.max(to, 1), last);
    for (const one of [...discs, ...legs]) {
      const r = Number(one.dataset.r);
      one.classList.toggle("later", r > round); one.classList.toggle("now", r === round); one.classList.toggle("was", r < round);
    }
    for (const one of $$(".spread, .mean, .meanl", part)) one.classList.toggle("later", round < last);
    for (const one of $$(".round", part)) one.hidden = Number(one.dataset.round) !== round;
    for (const one of $$(".rounds a", part)) if (Number(one.dataset.round) === round) one.setAttribute("aria-current", "true"); else one.removeAttribute("aria-current");
    $$(".rowlabels li", part).forEach((li, index) => li.classList.toggle("now", index + 1 === round));
    $("[data-do=back]", part).disabled = round === 1; $("[data-do=forth]", part).disabled = round === last;
    whatIf(part, round);
    if (part.id === "debate") keep("round", round === last ? "" : round);
    if (!moving || still.matches || round === 1) return;
    const pairs = movers(round), began = performance.now();
    const step = (now) => {
      const t = Math.min((now - began) / 700, 1), eased = 1 - (1 - t) ** 3;
      for (const [leg, disc] of pairs) put(leg, disc, eased);
      if (t < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  }
  const stop = () => { clearTimeout(timer); timer = 0; play.textContent = "Play"; };
  const tick = () => { timer = setTimeout(() => { show(round + 1, true); if (round < last) tick(); else timer = setTimeout(stop, 900); }, 2600); };
  const toggle = () => {
    if (timer) { stop(); return; }
    play.textContent = "Pause";
    show(round === last ? 1 : round, false);
    if (last > 1) tick(); else stop();
  };
  $(".controls", part).hidden = false;
  play.addEventListener("click", toggle);
  $("[data-do=back]", part).addEventListener("click", () => { stop(); show(round - 1, false); });
  $("[data-do=forth]", part).addEventListener("click", () => { stop(); show(round + 1, true); });
  for (const link of $$(".rounds a", part)) link.addEventListener("click", (event) => { event.preventDefault(); stop(); show(Number(link.dataset.round), Number(link.dataset.round) === round + 1); });
  show(Number(new URL(location).searchParams.get("round")) || last, false);
  return { part, toggle, step: (by) => { stop(); show(round + by, by > 0); } };
}
function whatIf(part, round) { // the command for the chosen role, score and round
  const form = $("form.if", part), code = $("[data-whatif]", part);
  if (!form) return;
  const { role, score, round: from } = form.elements;
  const write = () => { code.textContent = code.dataset.whatif.replace("ROLE", role.value).replace("SCORE", Math.min(Math.max(Number(score.value) || 0, 0), 100)).replace("ROUND", from.value); };
  if (form.hidden) { form.hidden = false; form.addEventListener("input", write); form.addEventListener("submit", (event) => event.preventDefault()); }
  from.value = round;
  write();
}

// parts of other pages, loaded when opened: prompts and replies, both conversations of a scenario ----------
const pages = new Map();
function page(address) {
  if (!pages.has(address)) pages.set(address, fetch(address).then(async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html")));
  return pages.get(address);
}
async function load(one) {
  const where = one.dataset.load;
  delete one.dataset.load;
  try {
    const found = (await page(where)).querySelector(`#${CSS.escape(one.dataset.pick)}`);
    if (!found) return;
    const copy = document.importNode(found, true);
    for (const each of [copy, ...$$("[id], mark", copy)]) { each.removeAttribute("id"); each.removeAttribute("data-m"); }
    for (const link of $$('a[href^="#"]', copy)) link.href = where + link.getAttribute("href");
    for (const each of $$("details", copy)) each.open = true;
    ($(".loaded", one) || one).replaceChildren(copy);
  } catch { /* the link stays */ }
}
function loads() {
  if (!location.protocol.startsWith("http")) return;
  for (const one of $$("details")) one.addEventListener("toggle", () => { if (one.open) for (const part of [one, ...$$("[data-load]", one)]) if (part.dataset.load && part.closest("details") === one) load(part); });
}

addEventListener("beforeprint", () => { for (const one of $$("details.rating")) { one.removeAttribute("name"); one.open = true; } });

// live: the server sends {"left": "8 minutes", ...} and "reload" when a unit of the page has changed ----------
function live() {
  const where = document.body.dataset.events;
  if (!where || !location.protocol.startsWith("http")) return;
  const source = new EventSource(where);
  source.addEventListener("figures", (event) => {
    for (const [name, v] of Object.entries(JSON.parse(event.data))) for (const one of $$(`[data-live="${CSS.escape(name)}"]`)) one.tagName === "rect" ? one.setAttribute("width", v) : one.textContent = v;
  });
  source.addEventListener("done", () => { source.close(); location.reload(); });
}

// keys --------------------------------------------------------------------
function keys(debates) {
  const help = $("#help"), body = document.body;
  $("[data-do=help]").addEventListener("click", () => help.showModal());
  addEventListener("keydown", (event) => {
    const field = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (field) { if (event.key === "Escape") field.blur(); return; }
    const now = debates.find((one) => one.part.contains(document.activeElement)), talk = now || debates[0];
    const act = {
      j: () => choose(1), k: () => choose(-1), "?": () => help.showModal(), "/": () => $("input[type=search], input", $(".filters") || document)?.focus(),
      u: () => body.dataset.up && location.assign(body.dataset.up), d: () => talk && (talk.part.focus(), talk.part.scrollIntoView({ block: "start" })),
      e: () => $$("mark[data-m]").forEach((mark) => mark.classList.add("on")),
      ArrowLeft: () => now ? now.step(-1) : body.dataset.prev && location.assign(body.dataset.prev),
      ArrowRight: () => now ? now.step(1) : body.dataset.next && location.assign(body.dataset.next),
      " ": () => now && document.activeElement === now.part ? now.toggle() : false,
      Enter: () => document.activeElement === body ? open_() : false,
    }[event.key];
    if (act && act() !== false && event.key !== "Enter") event.preventDefault();
  });
}

addEventListener("DOMContentLoaded", () => {
  theme(); clickable(); sortable(); filterable(); parts(); evidence();
  keys($$(".debate").map(debate)); loads(); live();
  const target = () => { const one = document.getElementById(decodeURIComponent(location.hash.slice(1))); return one?.matches("details") ? one : null; };
  if (target()) target().open = true;
  addEventListener("hashchange", () => { const one = target(); if (one) { one.open = true; one.scrollIntoView({ block: "start" }); } });
  setTimeout(() => { ready = true; }, 300);
});
