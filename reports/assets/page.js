"use strict";
// The page works without this script: it adds sorting, copying, the colour
// switch, charts and flame graphs. Names from the result are only ever set as
// text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const status = text => { document.getElementById("status").textContent = text; };
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// element makes <tag class="…">text</tag>.
function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// ---- Colours: the system's until the reader chooses.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const remembered = { get() { try { return localStorage.getItem("theme"); } catch { return null; } },
  set(v) { try { localStorage.setItem("theme", v); } catch { /* private mode: not remembered */ } } };
const isDark = () => (document.documentElement.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";
function showTheme() {
  const button = document.getElementById("theme");
  button.textContent = isDark() ? "Light colours" : "Dark colours";
  drawCharts();
}
function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

// ---- Tables: sort by a column, copy as a table and as Markdown.
function sortTable(table, column, kind, descending) {
  const key = row => {
    const cell = row.cells[column];
    const v = cell.dataset.v ?? cell.textContent.trim();
    return kind === "number" ? (v === "" ? NaN : Number(v)) : v;
  };
  const order = kind === "number" ? (a, b) => a - b : (a, b) => a.localeCompare(b, "en", { numeric: true });
  // What is not known comes last in either direction.
  const compare = (a, b) => Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : (descending ? -1 : 1) * order(a, b);
  for (const body of table.tBodies) { // a body's heading stays on top
    const rows = [...body.rows].filter(row => !row.classList.contains("group")).map(row => [key(row), row]);
    rows.sort((a, b) => compare(a[0], b[0]));
    body.append(...rows.map(r => r[1]));
  }
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((th, column) => {
    if (!th.dataset.sort) return;
    const button = element("button", "", th.textContent);
    button.type = "button";
    th.replaceChildren(button);
    button.addEventListener("click", () => {
      const first = th.dataset.sort === "number" ? "descending" : "ascending";
      const now = th.getAttribute("aria-sort");
      const next = !now ? first : now === "descending" ? "ascending" : "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", next);
      sortTable(table, column, th.dataset.sort, next === "descending");
      status(`Sorted by ${button.textContent}, ${next}.`);
    });
  });
}

// textOf lists a table's lines; what is only drawn is left out.
function textOf(table) {
  const line = row => [...row.cells].filter(c => !c.classList.contains("track")).map(c => c.textContent.replace(/\s+/g, " ").trim());
  const lines = [...table.rows].map(line), width = Math.max(...lines.map(l => l.length));
  return lines.map(l => [...l, ...Array(width - l.length).fill("")]);
}

function markdownOf(table) {
  const line = cells => "| " + cells.map(c => c.replace(/\|/g, "\\|")).join(" | ") + " |";
  const [head, ...rows] = textOf(table);
  const rule = [...table.tHead.rows[0].cells].filter(c => !c.classList.contains("track")).map(c => c.classList.contains("n") ? "--:" : "---");
  return [line(head), "|" + rule.join("|") + "|", ...rows.map(line)].join("\n") + "\n";
}

function plainTable(table) {
  const copy = element("table");
  textOf(table).forEach((cells, i) => { const tr = copy.insertRow(); for (const c of cells) tr.append(element(i ? "td" : "th", "", c)); });
  return copy.outerHTML;
}

// copy puts a table on the clipboard, as Markdown and as a table. The older way
// comes first: it works in a page that was opened from disk in any browser, the
// newer one only where the browser trusts the page.
async function copy(table) {
  const kinds = { "text/plain": markdownOf(table), "text/html": plainTable(table) };
  let heard = false;
  const listener = event => {
    heard = true;
    for (const kind in kinds) event.clipboardData.setData(kind, kinds[kind]);
    event.preventDefault();
  };
  document.addEventListener("copy", listener);
  const done = document.execCommand("copy");
  document.removeEventListener("copy", listener);
  if (done && heard) return true;
  try {
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(
      Object.entries(kinds).map(([kind, text]) => [kind, new Blob([text], { type: kind })])))]);
    return true;
  } catch { return false; } // there is none, or it is not allowed
}

function makeCopyable(table) {
  const tools = element("p", "tools"), button = element("button", "quiet", "Copy table");
  button.type = "button";
  button.addEventListener("click", async () => {
    const done = await copy(table);
    button.textContent = done ? "Copied" : "Copying is not allowed here";
    status(done ? "Table copied, as Markdown and as a table." : "The browser did not allow copying: select the table and copy it by hand.");
    setTimeout(() => { button.textContent = "Copy table"; }, 1500);
  });
  tools.append(button);
  (table.closest(".scroll") || table).after(tools);
}

function addTableTools(root) {
  for (const table of root.querySelectorAll("table.data,table.rank")) {
    if (table.dataset.tools) continue;
    table.dataset.tools = "yes";
    makeSortable(table);
    if (table.dataset.copy !== undefined) makeCopyable(table);
  }
}

// ---- Links into a folded case unfold it.
function unfoldTarget() {
  let target = null;
  try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
    target.firstElementChild.focus({ preventScroll: true });
  }
}

// ---- Printing: light colours, everything unfolded, charts as wide as paper.
let beforePrint = null;
addEventListener("beforeprint", () => {
  beforePrint = { theme: document.documentElement.dataset.theme, open: [...document.querySelectorAll("details:not([open],.long)")] };
  beforePrint.open.forEach(d => { d.open = true; });
  setTheme("light");
  drawCharts(680);
});
addEventListener("afterprint", () => {
  if (!beforePrint) return;
  beforePrint.open.forEach(d => { d.open = false; });
  setTheme(beforePrint.theme);
  beforePrint = null;
  drawCharts();
});
