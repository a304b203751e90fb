// ---- Flame graphs: two variants side by side, then their functions in a table.
const frameHeight = 19;
const share = v => v >= 1000 ? Math.round(v / 100) + " %" : (v / 100).toFixed(1) + " %";

// unfold turns the preorder list into nodes that know where they lie: from and
// width in 1/10000 of the profile.
function unfold(tree) {
  const path = [{ from: 0, width: 10000, next: 0, children: [], depth: -1 }];
  const nodes = [];
  for (let i = 0; i < tree.length; i += 3) {
    const [depth, name, width] = [tree[i], tree[i + 1], tree[i + 2]];
    const parent = path[depth];
    const node = { name, width, from: parent.next, next: parent.next, depth, parent, children: [] };
    parent.next += width;
    parent.children.push(node);
    path[depth + 1] = node;
    nodes.push(node);
  }
  return { root: path[0], nodes };
}

function flameGraph(graph) {
  const { names, kinds } = data.profiles, { root, nodes } = unfold(graph.tree);
  const box = element("div", "flame");
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-roledescription", "flame graph");
  box.setAttribute("aria-label", `CPU profile of ${graph.variant}. Arrow keys move between functions, Enter looks inside, Escape goes back. The table below holds the same functions.`);
  let inside = root, current = null;
  const say = n => `${names[n.name]}: ${share(n.width)} of the CPU time, ${data.kinds[kinds[n.name]]}`;
  const within = n => inside === root || (n.from >= inside.from && n.from + n.width <= inside.from + inside.width);

  function draw() {
    const shown = nodes.filter(within);
    box.replaceChildren(...shown.filter(n => n.width * 10000 / inside.width >= 20).map(n => {
      const clipped = n.depth < inside.depth;
      const frame = element("div", `frame kind${kinds[n.name]}` + (n === current ? " current" : "") + (clipped ? " above" : ""), names[n.name]);
      frame.style.left = clipped ? "0" : (n.from - inside.from) * 100 / inside.width + "%";
      frame.style.width = clipped ? "100%" : n.width * 100 / inside.width + "%";
      frame.style.top = n.depth * frameHeight + "px";
      frame.title = say(n);
      frame.addEventListener("click", () => { current = n; look(n === inside ? root : n); });
      return frame;
    }));
    let up = inside.parent;
    while (up && up !== root) {
      const n = up, frame = element("div", `frame above kind${kinds[n.name]}`, names[n.name]);
      frame.style.cssText = `left:0;width:100%;top:${n.depth * frameHeight}px`;
      frame.title = say(n);
      frame.addEventListener("click", () => { current = n; look(n); });
      box.append(frame);
      up = n.parent;
    }
    const depth = Math.max(0, ...shown.map(n => n.depth));
    box.style.height = (depth + 1) * frameHeight + "px";
  }
  function look(n) { inside = n; draw(); if (n !== root) status(say(n)); }
  box.addEventListener("keydown", event => {
    const siblings = current ? current.parent.children : root.children;
    const at = siblings.indexOf(current);
    const next = { ArrowDown: current ? current.children[0] : root.children[0], ArrowUp: current && current.parent !== root ? current.parent : null,
      ArrowRight: siblings[at + 1], ArrowLeft: siblings[at - 1] }[event.key];
    if (event.key === "Enter" && current) look(current === inside ? root : current);
    else if (event.key === "Escape") look(root);
    else if (event.key.startsWith("Arrow")) {
      if (next) { current = next; if (!within(next)) inside = root; draw(); status(say(next)); }
    } else return;
    event.preventDefault();
  });
  draw();
  return box;
}

// kindsBar is the profile in one line: how much of it is what kind of work.
function kindsBar(graph) {
  const bar = element("div", "kinds");
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", graph.variant + ": " + graph.kinds.map((v, i) => v >= 50 ? `${data.kinds[i]} ${share(v)}` : "").filter(Boolean).join(", "));
  graph.kinds.forEach((v, i) => {
    if (v < 50) return;
    const part = element("span", "kind" + i, v >= 900 ? share(v) : "");
    part.style.flexGrow = v;
    part.title = `${data.kinds[i]}: ${share(v)}`;
    bar.append(part);
  });
  return bar;
}

function panel(graph) {
  const figure = element("figure", "profile");
  const head = element("p", "profile-head");
  head.append(element("b", "", graph.variant), ` ${graph.samples} samples, ${graph.ms} ms of CPU time${graph.samples < 100 ? "; few, so shares are rough" : ""} `);
  for (const [href, label] of [[graph.page, "open in pprof’s view"], [graph.file, "profile"]]) {
    if (!href) continue;
    const a = element("a", "", label);
    a.href = href.split("/").map(encodeURIComponent).join("/");
    head.append(a, " ");
  }
  figure.append(head, kindsBar(graph), flameGraph(graph));
  return figure;
}

// functionTable lists the functions that cost most in either profile.
function functionTable(a, b) {
  const { names, kinds } = data.profiles;
  const graphs = a === b ? [a] : [a, b], functions = new Map();
  graphs.forEach((g, i) => g.top.forEach(([name, self, total]) => {
    if (!functions.has(name)) functions.set(name, [null, null]);
    functions.get(name)[i] = { self, total };
  }));
  const wrap = element("div", "scroll"), table = element("table", "data functions");
  table.dataset.copy = "";
  const caption = element("caption");
  caption.append(element("span", "", "The functions that cost most. Own time is spent in the function itself; a function high in one list and absent from the other is the difference between the two."));
  table.append(caption);
  const head = table.createTHead().insertRow();
  const column = (text, sort) => { const th = element("th", sort === "number" ? "n" : "", text); th.scope = "col"; th.dataset.sort = sort; head.append(th); };
  column("Function", "text");
  column("Kind", "text");
  graphs.forEach(g => { column(`${g.variant}: own`, "number"); column(`with calls`, "number"); });
  const body = table.createTBody();
  [...functions].sort((x, y) => Math.max(...y[1].map(v => v?.self ?? 0)) - Math.max(...x[1].map(v => v?.self ?? 0))).forEach(([name, values]) => {
    const row = body.insertRow(), th = element("th", "");
    th.scope = "row";
    th.append(element("code", "", names[name]));
    const kind = element("td", "kind-name");
    kind.append(element("i", "kind" + kinds[name]), data.kinds[kinds[name]]);
    row.append(th, kind);
    graphs.forEach((_, i) => ["self", "total"].forEach(what => {
      const v = values[i]?.[what], td = element("td", "n", v === undefined ? "–" : share(v));
      td.dataset.v = v ?? 0;
      row.append(td);
    }));
  });
  wrap.append(table);
  return wrap;
}

function choice(label, options, selected) {
  const wrap = element("label", "choice", label + " "), select = element("select");
  options.forEach(([value, text]) => { const o = element("option", "", text); o.value = value; o.selected = value === selected; select.append(o); });
  wrap.append(select);
  return { wrap, select };
}

function flameViewer(box) {
  const component = Number(box.dataset.flames), chart = data.charts[component];
  const all = data.profiles.graphs.filter(g => g.component === component && chart.cases[g.case]);
  const cases = [...new Set(all.map(g => g.case))];
  const controls = element("div", "choices"), place = element("div");
  const caseChoice = choice("Case", cases.map(c => [String(c), chart.cases[c].name]), String(cases[0]));
  if (!all.length) {
    box.append(element("p", "", "Its profiles are not drawn here to keep the page small; the tables below link to them."));
    return;
  }
  const variants = [...new Set(all.map(g => g.variant))];
  const best = variants.find(v => v === box.dataset.best) || variants.find(v => v !== chart.baseline) || variants[0];
  const first = choice("Compare", variants.map(v => [v, v]), variants.includes(chart.baseline) ? chart.baseline : variants[0]);
  const second = choice("with", variants.map(v => [v, v]), best);
  controls.append(caseChoice.wrap, first.wrap, second.wrap);
  const legend = element("p", "legend");
  data.kinds.forEach((name, i) => { if (all.some(g => g.kinds[i] >= 50)) { const key = element("span", "key"); key.append(element("i", "kind" + i), name); legend.append(key); } });
  const draw = () => {
    const pick = v => all.find(g => String(g.case) === caseChoice.select.value && g.variant === v);
    const a = pick(first.select.value), b = pick(second.select.value);
    const panels = element("div", "panels");
    [...new Set([a, b])].forEach(g => { if (g) panels.append(panel(g)); });
    place.replaceChildren(panels);
    if (a || b) { place.append(functionTable(a || b, b || a)); addTableTools(place); }
    else place.append(element("p", "", "Neither variant has a profile of this case."));
  };
  [caseChoice, first, second].forEach(c => c.select.addEventListener("change", draw));
  box.append(controls, legend, place);
  draw();
}

// ---- Start.
const theme = remembered.get();
if (theme === "dark" || theme === "light") setTheme(theme);
addTableTools(document);
showTheme();
document.getElementById("theme").addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  setTheme(next);
  remembered.set(next);
  showTheme();
});
prefersDark.addEventListener("change", showTheme);
document.querySelectorAll(".flames").forEach(flameViewer);
followWidth();
addEventListener("hashchange", unfoldTarget);
unfoldTarget();
document.documentElement.dataset.ready = "true";
