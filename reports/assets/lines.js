// ---- Drawing: a chart is registered once, with a function that makes its
// option, and drawn again when colours or the window change.
const drawings = [], log2 = Math.log2;
const font = "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif", mono = "ui-monospace,Menlo,Consolas,'Liberation Mono',monospace";

function addChart(parent, label, height, option) {
  const box = element("div", "chart");
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", label);
  parent.append(box);
  drawings.push({ box, height, option });
  return box;
}

function drawChart(d, width) {
  const height = typeof d.height === "function" ? d.height() : d.height;
  d.box.style.height = height + "px";
  const drawn = echarts.getInstanceByDom(d.box) || echarts.init(d.box, null, { renderer: "svg" });
  drawn.resize({ width: width || "auto", height });
  drawn.setOption(d.option(width || d.box.clientWidth), { notMerge: true });
}
function drawCharts(width) { for (const d of drawings) drawChart(d, width); }
function drawWithin(place) { for (const d of drawings) if (place.contains(d.box)) drawChart(d); }

function followWidth() {
  const widths = new Map();
  const observer = new ResizeObserver(entries => {
    const changed = new Set();
    for (const e of entries) {
      const width = Math.round(e.contentRect.width);
      if (widths.get(e.target) !== width) changed.add(e.target);
      widths.set(e.target, width);
    }
    if (changed.size) requestAnimationFrame(() => { for (const d of drawings) if (changed.has(d.box)) drawChart(d); });
  });
  for (const { box } of drawings) { widths.set(box, Math.round(box.clientWidth)); observer.observe(box); }
}

// ---- Figures as a person reads them, three digits in the unit that suits.
const digits = v => v >= 100 || Number.isInteger(v) ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2);
const scaled = (v, steps) => { const [name, size] = steps.find(([, size]) => Math.abs(v) < 999.5 * size) || steps[steps.length - 1]; return digits(Math.abs(v) / size) + name; };
const timeText = v => v == null ? "–" : (v < 0 ? "−" : "") + scaled(v, [[" ns", 1e-9], [" µs", 1e-6], [" ms", 1e-3], [" s", 1]]);
const bytesText = v => v == null ? "–" : (v < 0 ? "−" : "") + scaled(v, [[" B", 1], [" KiB", 1024], [" MiB", 2 ** 20], [" GiB", 2 ** 30]]);
const countText = v => v == null ? "–" : scaled(v, [["", 1], [" k", 1e3], [" M", 1e6]]);
const times = r => r == null ? "–" : r >= 99.5 ? r.toFixed(0) + "×" : r >= 9.95 ? r.toFixed(1) + "×" : r >= 0.0995 ? r.toFixed(2) + "×" : Number(r.toPrecision(2)) + "×";

// round leaves out the zeros that a tick does not need: 1.20 k is 1.2 k.
const round = text => text.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");

// ---- Lines: one a variant, with whiskers or a band for its interval.
const symbols = ["circle", "rect", "triangle", "diamond", "roundRect", "arrow"];
const styleOf = (s, i) => s.baseline ? { color: colour("--muted"), type: "dashed", symbol: "emptyCircle" }
  : { color: colour("--v" + i % 8), type: s.peer || s.control ? "dotted" : "solid", symbol: symbols[i % symbols.length] };

function legendOf(series) {
  const legend = element("p", "legend");
  series.forEach((s, i) => {
    const key = element("span", "key"), line = element("i", "line");
    const { type } = styleOf(s, i);
    line.style.borderTop = `3px ${type} ${s.baseline ? "var(--muted)" : `var(--v${i % 8})`}`;
    key.append(line, s.name + (s.baseline ? " (baseline)" : s.control ? " (noise control)" : ""));
    legend.append(key);
  });
  return legend;
}

// logTicks are 1, 2, 5, 10 … between two powers of ten, some five of them.
function logTicks(low, high) {
  for (const steps of [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let e = Math.floor(low); e <= Math.ceil(high); e++) for (const s of steps) ticks.push(e + Math.log10(s));
    const inside = ticks.filter(t => t >= low && t <= high);
    if (inside.length <= 6) return inside;
  }
  const all = [];
  const each = Math.ceil((high - low) / 6);
  for (let e = Math.ceil(low); e <= high; e += each) all.push(e);
  return all;
}

// apart lists the series whose ends lie far enough apart to be named beside
// each other; the legend names all.
function apart(series, up, log) {
  const ends = series.map((s, i) => [i, up(s.points.findLast(p => p[1] != null)?.[1])]).filter(([, at]) => at != null);
  const all = series.flatMap(s => s.points.map(p => up(p[1]))).filter(v => v != null);
  const least = (Math.max(...all) - (log ? Math.min(...all) : 0)) / 14, kept = [];
  for (const [i, at] of ends) if (kept.every(([, other]) => Math.abs(other - at) > least)) kept.push([i, at]);
  return kept.map(([i]) => i);
}

// lineOption draws series = [{name, baseline, points: [[x, y, low, high]]}].
// x is {labels} for steps, {ticks: [[at, label]]} or {text}; y is {log, text}, or
// {binary, text} for bytes. With keyed, a chart too narrow to name its lines at their
// ends has a legend of its own.
function lineOption({ series, x, y, title, band, width, keyed }) {
  const ink = colour("--ink"), muted = colour("--muted"), line = colour("--line"), panel = colour("--panel");
  const up = v => v == null || (y.log && v <= 0) ? null : y.log ? Math.log10(v) : v;
  const values = series.flatMap(s => s.points.flatMap(p => [p[1], p[2], p[3]])).map(up).filter(v => v != null);
  const low = y.log ? Math.min(...values) - 0.06 : 0, high = y.log ? Math.max(...values) + 0.06 : undefined;
  const ticks = y.log && values.length ? logTicks(low, high) : undefined;
  const named = width >= 480 && series.length > 1, labelled = named ? apart(series, up, y.log) : [];
  const legend = keyed && !named && series.length > 1;
  const room = Math.min(150, 7.5 * Math.max(...series.map(s => s.name.length)) + 16);
  const intervals = (s, i) => ({
    name: "interval", type: "custom", silent: true, z: 1, animation: false,
    data: s.points.filter(p => p[3] != null).map(p => [p[0], up(p[3])]), // the axis reaches that far
    renderItem: (params, api) => {
      if (params.dataIndexInside > 0) return null; // all are drawn at once
      const style = styleOf(s, i), points = s.points.filter(p => up(p[2]) != null && up(p[3]) != null);
      const at = (p, v) => api.coord([p[0], up(v)]);
      if (band) return { type: "polygon", shape: { points: [...points.map(p => at(p, p[3])), ...points.reverse().map(p => at(p, p[2]))] }, style: { fill: style.color, opacity: 0.16 } };
      return { type: "group", children: points.map(p => ({ type: "line", shape: { x1: at(p, p[2])[0], y1: at(p, p[2])[1], x2: at(p, p[3])[0], y2: at(p, p[3])[1] }, style: { stroke: style.color, lineWidth: 1.5 } })) };
    },
  });
  return {
    animation: false, backgroundColor: "transparent", textStyle: { fontFamily: font, color: ink },
    aria: { enabled: false },
    title: { text: title, left: 10, top: 7, textStyle: { color: ink, fontSize: 13, fontWeight: 600, width: width - 20, overflow: "truncate" } },
    legend: legend ? { left: 6, top: 26, itemHeight: 8, data: series.map(s => s.name), textStyle: { color: ink }, selectedMode: false } : undefined,
    grid: { left: 10, right: named ? room : 18, top: legend ? 58 : 38, bottom: x.name ? 30 : 10, containLabel: true },
    tooltip: {
      trigger: "axis", confine: true, backgroundColor: panel, borderColor: line, textStyle: { color: ink, fontSize: 13 },
      formatter: list => {
        const safe = echarts.format.encodeHTML, shown = list.filter(p => p.seriesType === "line" && series[p.seriesIndex]);
        if (!shown.length) return "";
        const at = series[shown[0].seriesIndex].points[shown[0].dataIndex];
        const head = x.labels ? x.name + " " + x.labels[at[0]] : x.text(at[0]);
        return `<b>${safe(head)}</b><br>` + shown.map(p => {
          const s = series[p.seriesIndex], v = s.points[p.dataIndex];
          return `${p.marker}${safe(s.name)} ${safe(y.text(v[1]))}` + (v[2] != null && v[3] > v[2] ? ` <small>${safe(y.text(v[2]))} to ${safe(y.text(v[3]))}</small>` : "");
        }).join("<br>");
      },
    },
    xAxis: {
      type: x.labels ? "category" : "value", data: x.labels, boundaryGap: !!x.labels, min: x.min, max: x.max,
      name: x.name, nameLocation: "middle", nameGap: 26, nameTextStyle: { color: muted },
      axisLabel: { color: muted, hideOverlap: true, formatter: x.labels ? undefined : v => x.ticks ? (x.ticks.find(([at]) => Math.abs(at - v) < 1e-6) || ["", ""])[1] : x.text(v), customValues: x.ticks && x.ticks.map(t => t[0]) },
      axisLine: { lineStyle: { color: line } }, axisTick: { show: false, customValues: x.ticks && x.ticks.map(t => t[0]) }, splitLine: { show: !x.labels, lineStyle: { color: line } },
    },
    yAxis: {
      type: "value", min: low, max: high, interval: y.binary ? 2 ** Math.ceil(log2(Math.max(...values) / 5)) : undefined,
      axisLabel: { color: muted, formatter: v => round(y.text(y.log ? Number((10 ** v).toPrecision(6)) : v)), customValues: ticks },
      axisTick: { show: false, customValues: ticks }, splitLine: { lineStyle: { color: line } },
    },
    series: [
      ...series.map((s, i) => {
        const style = styleOf(s, i);
        return {
          name: s.name, type: "line", data: s.points.map(p => [p[0], up(p[1])]), connectNulls: false, animation: false, z: 3,
          symbol: style.symbol, symbolSize: s.points.length > 40 ? 0 : 7, showSymbol: s.points.length <= 40,
          itemStyle: { color: style.color }, lineStyle: { color: style.color, type: style.type, width: 2 }, emphasis: { disabled: true },
          endLabel: { show: labelled.includes(i), formatter: s.name, color: s.baseline ? muted : style.color, width: room - 14, overflow: "truncate", fontSize: 12 },
          markLine: y.one && i === 0 ? { silent: true, symbol: "none", animation: false, data: [{ yAxis: 0 }], label: { show: false }, lineStyle: { color: muted, type: "solid", width: 1 } } : undefined,
        };
      }),
      ...series.map(intervals),
    ],
  };
}

// ---- Tables that follow a choice. A cell is a text or {text, v} to sort by.
function dataTable(caption, columns, rows) {
  const wrap = element("div", "scroll"), table = element("table", "data");
  table.dataset.copy = "";
  const title = element("caption");
  title.append(element("span", "", caption));
  table.append(title);
  const head = table.createTHead().insertRow(), body = table.createTBody();
  columns.forEach(([text, kind]) => { const th = element("th", kind === "number" ? "n" : "", text); th.scope = "col"; th.dataset.sort = kind; head.append(th); });
  rows.forEach(cells => {
    const row = body.insertRow();
    cells.forEach((cell, i) => {
      const td = element(i ? "td" : "th", columns[i][1] === "number" ? "n" : "");
      if (!i) td.scope = "row";
      if (cell instanceof Node) td.append(cell);
      else if (cell && typeof cell === "object") { td.textContent = cell.text; td.dataset.v = cell.v ?? ""; }
      else td.textContent = cell;
      row.append(td);
    });
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
