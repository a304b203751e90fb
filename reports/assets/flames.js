// ---- Flame graphs: two variants side by side, their difference, their functions.
const frameHeight = 19;
const share = v => v >= 1000 ? Math.round(v / 100) + " %" : (v / 100).toFixed(1) + " %";

// unfold turns the preorder list into nodes that know where they lie: from and
// width in 1/10000 of the profile.
function unfold(graph) {
  const { names, kinds } = data.profiles;
  const root = { from: 0, width: 10000, next: 0, children: [], depth: -1 }, path = [root], nodes = [];
  for (let i = 0; i < graph.tree.length; i += 3) {
    const [depth, name, width] = [graph.tree[i], graph.tree[i + 1], graph.tree[i + 2]], parent = path[depth];
    const node = { name, width, from: parent.next, next: parent.next, depth, parent, children: [], label: names[name], style: "kind" + kinds[name],
      say: `${names[name]}: ${share(width)} of the CPU time${graph.item ? ", " + timeText(width / 10000 * graph.item) + " an item" : ""}, ${data.kinds[kinds[name]]}` };
    parent.next += width;
    parent.children.push(node);
    path[depth + 1] = node;
    nodes.push(node);
  }
  return { root, nodes };
}

// The variants' own functions have names of their own: they count as the same
// function when they are the same method, as in Typed.Add and Ring.Add.
function sameAs(name) {
  const { names, kinds } = data.profiles;
  return kinds[name] === 0 ? "method " + names[name].slice(names[name].lastIndexOf(".") + 1) : names[name];
}

// chance is how far the times a and b, in seconds an item, can differ because
// profiles only sample: two standard errors of their counts.
function chance(a, b, first, second) {
  const part = (time, graph) => Math.max(1, time / graph.item * graph.samples) * (graph.item / graph.samples) ** 2;
  return 2 * Math.sqrt(part(a, first) + part(b, second));
}

// differ lays the profiles of a and b over each other, in seconds an item. A
// frame is as wide as both together, so that what either does away with stays
// in sight.
function differ(a, b) {
  const { names } = data.profiles;
  const root = { from: 0, a: a.item, b: b.item, width: a.item + b.item, depth: -1, children: [], same: new Map() };
  for (const [side, graph] of [["a", a], ["b", b]]) {
    const tree = unfold(graph), twin = new Map([[tree.root, root]]);
    for (const node of tree.nodes) {
      const parent = twin.get(node.parent), key = sameAs(node.name);
      let own = parent.same.get(key);
      if (!own) {
        own = { a: 0, b: 0, depth: parent.depth + 1, parent, children: [], same: new Map(), names: new Set() };
        parent.same.set(key, own);
        parent.children.push(own);
      }
      own[side] += node.width / 10000 * graph.item;
      own.names.add(names[node.name]);
      twin.set(node, own);
    }
  }
  const nodes = [];
  (function lay(parent) {
    let next = parent.from;
    parent.children.sort((x, y) => (y.a + y.b) - (x.a + x.b));
    for (const n of parent.children) {
      const more = n.b - n.a, part = Math.abs(more) / (n.a + n.b), level = Math.abs(more) <= chance(n.a, n.b, a, b) ? 0 : part < 0.2 ? 1 : part < 0.5 ? 2 : part < 0.9 ? 3 : 4;
      n.width = n.a + n.b;
      n.from = next;
      next += n.width;
      n.label = (level ? `${more > 0 ? "▼ +" : "▲ "}${timeText(more)} ` : "") + [...n.names].join(" / ");
      n.style = level === 0 ? "even" : (more > 0 ? "more" : "less") + level;
      n.say = `${[...n.names].join(" / ")}: ${timeText(n.a)} an item in ${a.variant}, ${timeText(n.b)} in ${b.variant}`;
      nodes.push(n);
      lay(n);
    }
  })(root);
  return { root, nodes };
}

// flameGraph draws nodes that lie within root.
function flameGraph({ root, nodes }, label) {
  const box = element("div", "flame");
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-roledescription", "flame graph");
  box.setAttribute("aria-label", `${label}. Arrow keys move between functions, Enter looks inside, Escape goes back. The table below holds the same functions.`);
  let inside = root, current = null;
  const slack = root.width * 1e-9; // sums of fractions
  const within = n => inside === root || (n.from >= inside.from - slack && n.from + n.width <= inside.from + inside.width + slack);

  function frameOf(n, above) {
    const frame = element("div", `frame ${n.style}` + (n === current ? " current" : "") + (above ? " above" : ""), n.label);
    frame.style.left = above ? "0" : (n.from - inside.from) * 100 / inside.width + "%";
    frame.style.width = above ? "100%" : n.width * 100 / inside.width + "%";
    frame.style.top = n.depth * frameHeight + "px";
    frame.title = n.say;
    frame.addEventListener("click", () => { current = n; look(n === inside ? root : n); });
    return frame;
  }
  function draw() {
    const shown = nodes.filter(n => within(n) && n.depth >= inside.depth);
    const frames = shown.filter(n => n.width / inside.width >= 0.002).map(n => frameOf(n, false));
    for (let up = inside.parent; up && up !== root; up = up.parent) frames.push(frameOf(up, true));
    box.replaceChildren(...frames);
    box.style.height = (Math.max(0, ...shown.map(n => n.depth)) + 1) * frameHeight + "px";
  }
  function look(n) { inside = n; draw(); if (n !== root) status(n.say); }
  box.addEventListener("keydown", event => {
    const siblings = current ? current.parent.children : root.children;
    const at = siblings.indexOf(current);
    const next = { ArrowDown: current ? current.children[0] : root.children[0], ArrowUp: current && current.parent !== root ? current.parent : null,
      ArrowRight: siblings[at + 1], ArrowLeft: siblings[at - 1] }[event.key];
    if (event.key === "Enter" && current) look(current === inside ? root : current);
    else if (event.key === "Escape") look(root);
    else if (event.key.startsWith("Arrow")) {
      if (next) { current = next; if (!within(next)) inside = root; draw(); status(next.say); }
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
  const head = element("p", "profile-head"), a = element("a", "", "profile");
  a.href = graph.file.split("/").map(encodeURIComponent).join("/");
  head.append(element("b", "", graph.variant), ` ${graph.samples} samples, ${graph.ms} ms of CPU time${few(graph) ? "; few, so shares are rough" : ""} `, a);
  figure.append(head, kindsBar(graph), flameGraph(unfold(graph), "CPU profile of " + graph.variant));
  return figure;
}

const few = graph => graph.samples < 100;

function difference(a, b) {
  const figure = element("figure", "profile"), head = element("p", "profile-head");
  head.append(element("b", "", `${b.variant} against ${a.variant}`), ` ${timeText(b.item)} an item instead of ${timeText(a.item)}`);
  const caption = element("figcaption", "", `A frame is as wide as its time in both together. Blue with ▲ takes less time an item in ${b.variant}, orange with ▼ more, plain no more than chance tells; methods of the same name count as the same function. Wide and blue is what ${b.variant} saves; wide and orange is where it could still be made faster.`);
  figure.append(head, flameGraph(differ(a, b), `Difference of the CPU profiles of ${a.variant} and ${b.variant}`), caption);
  return figure;
}

// functionTable lists the functions that cost most in either profile, those
// that differ most first.
function functionTable(a, b) {
  const { names, kinds } = data.profiles;
  const graphs = a === b ? [a] : [a, b], functions = new Map(), absolute = graphs.every(g => g.item);
  graphs.forEach((g, i) => g.top.forEach(([name, self, total]) => {
    if (!functions.has(name)) functions.set(name, [null, null]);
    functions.get(name)[i] = { self, total };
  }));
  // In time an item where that is known, else in shares of the profile.
  const cost = (v, i) => absolute ? (v ?? 0) / 10000 * graphs[i].item : v ?? 0;
  const print = v => absolute ? timeText(v) : share(v), an = absolute ? " an item" : "";
  const more = values => cost(values[1]?.self, 1) - cost(values[0]?.self, 0);
  const weight = values => graphs.length > 1 ? Math.abs(more(values)) : cost(values[0]?.self, 0);
  const columns = [["Function", "text"], ["Kind", "text"], ...graphs.map(g => [`${g.variant}: own${an}`, "number"])];
  if (graphs.length > 1) columns.push(["difference", "number"]);
  graphs.forEach(g => columns.push([`${g.variant}: with calls`, "number"]));
  const listed = [...functions].sort((x, y) => weight(y[1]) - weight(x[1]));
  const told = absolute && graphs.length > 1 ? listed.filter(([, v]) => weight(v) > chance(cost(v[0]?.self, 0), cost(v[1]?.self, 1), ...graphs)) : listed;
  const rows = (told.length ? told : listed).slice(0, 14).map(([name, values]) => {
    const kind = element("span", "kind-name"), cell = what => graphs.map((_, i) => {
      const v = values[i]?.[what];
      return { text: v === undefined ? "–" : print(cost(v, i)), v: cost(v, i) };
    });
    kind.append(element("i", "kind" + kinds[name]), data.kinds[kinds[name]]);
    const difference = graphs.length > 1 ? [{ text: (more(values) > 0 ? "+" : more(values) < 0 ? "−" : "") + print(Math.abs(more(values))), v: more(values) }] : [];
    return [element("code", "", names[name]), kind, ...cell("self"), ...difference, ...cell("total")];
  });
  const wrap = dataTable(graphs.length > 1 ? `${told.length ? "The functions that differ most, by more than chance. Start with the largest difference that is the variant’s own code." : "No function differs by more than chance: these profiles have too few samples to tell, so don’t read the differences."} Own time is spent in the function itself; a dash is too little to be among a profile’s first.`
    : "The functions that cost most. Own time is spent in the function itself.", columns, rows);
  wrap.querySelector("table").classList.add("functions");
  return wrap;
}

function flameViewer(box) {
  const component = Number(box.dataset.flames), chart = data.charts[component];
  const caseOf = index => chart.cases.find(c => c.index === index);
  const all = data.profiles.graphs.filter(g => g.component === component && caseOf(g.case));
  if (!all.length) {
    box.append(element("p", "", "Its profiles are not drawn here to keep the page small; the tables below link to them."));
    return;
  }
  const cases = [...new Set(all.map(g => g.case))], variants = [...new Set(all.map(g => g.variant))];
  const controls = element("div", "choices"), place = element("div"), legend = element("p", "legend");
  const caseChoice = choice("Case", cases.map(c => [String(c), caseOf(c).name]), String(cases[0]));
  const best = variants.find(v => v === box.dataset.best) || variants.find(v => v !== chart.baseline) || variants[0];
  const first = choice("Compare", variants.map(v => [v, v]), variants.includes(chart.baseline) ? chart.baseline : variants[0]);
  const second = choice("with", variants.map(v => [v, v]), best);
  controls.append(caseChoice.wrap, first.wrap, second.wrap);
  data.kinds.forEach((name, i) => { if (all.some(g => g.kinds[i] >= 50)) { const key = element("span", "key"); key.append(element("i", "kind" + i), name); legend.append(key); } });
  const draw = () => {
    const pick = v => all.find(g => String(g.case) === caseChoice.select.value && g.variant === v);
    const a = pick(first.select.value), b = pick(second.select.value), panels = element("div", "panels");
    place.replaceChildren(panels);
    [...new Set([a, b])].forEach(g => { if (g) panels.append(panel(g)); });
    if (a && b && a !== b && a.item && b.item) place.append(difference(a, b));
    if (a || b) { place.append(functionTable(a || b, b || a)); addTableTools(place); }
    else place.append(element("p", "", "Neither variant has a profile of this case."));
  };
  [caseChoice, first, second].forEach(c => c.select.addEventListener("change", draw));
  box.append(controls, legend, place);
  draw();
}
