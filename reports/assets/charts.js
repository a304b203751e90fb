// ---- Forest plots: every case of a component with its intervals.
const rowHeight = 18;

// rowsOf lists the chart's lines from the top: a heading per case, then its marks.
function rowsOf(chart) {
  const rows = [], bands = [], marks = [];
  for (const c of chart.cases.filter(c => c.marks.length)) {
    const heading = rows.length;
    rows.push({ heading: c.name });
    for (const m of c.marks) {
      marks.push({ ...m, row: rows.length, case: c.name });
      rows.push({ label: m.v, peer: m.peer });
    }
    if (c.floor > 0) bands.push({ from: heading, to: rows.length - 1, floor: c.floor });
  }
  return { rows, bands, marks };
}

function chartOption(chart, width) {
  const { rows, bands, marks } = rowsOf(chart);
  const narrow = width < 620;
  const left = narrow ? 104 : 168, right = narrow ? 52 : 64;
  const ink = colour("--ink"), muted = colour("--muted"), line = colour("--line"), panel = colour("--panel"), band = colour("--band");
  const tones = { faster: colour("--faster"), slower: colour("--slower"), same: colour("--same"), unknown: colour("--same") };
  const low = Math.max(-4, Math.min(-1, ...marks.map(m => Math.floor(log2(m.lo ?? m.r)))));
  const high = Math.min(6, Math.max(1, ...marks.map(m => Math.ceil(log2(m.hi ?? m.r)))));
  const bounds = [2 ** low, 2 ** high], inside = r => Math.min(Math.max(r, bounds[0]), bounds[1]);
  const custom = (name, list, renderItem, extra) => ({ name, type: "custom", renderItem, data: list, animation: false, silent: true, ...extra });

  return {
    animation: false, backgroundColor: "transparent", textStyle: { fontFamily: font, color: ink },
    aria: { enabled: false }, // the container says it, and the tables hold the figures
    grid: { left, right, top: 6, bottom: 26 },
    tooltip: {
      trigger: "item", confine: true, backgroundColor: panel, borderColor: line, textStyle: { color: ink, fontSize: 13 },
      formatter: p => {
        const m = marks[p.dataIndex], safe = echarts.format.encodeHTML;
        const range = m.lo ? `${times(m.lo)} to ${times(m.hi)}` : "no interval";
        return `<b>${safe(m.v)}</b> ${safe(m.verdict)}<br>${times(m.r)} (${range})<br><small>${safe(m.case)}</small>`;
      },
    },
    xAxis: { type: "log", logBase: 2, min: bounds[0], max: bounds[1], axisLabel: { color: muted, formatter: v => `${Number(v.toPrecision(3))}×`, hideOverlap: true }, axisLine: { show: false }, axisTick: { show: false }, splitLine: { lineStyle: { color: line } } },
    yAxis: { type: "category", inverse: true, data: rows.map((_, i) => i), axisLabel: { show: false }, axisTick: { show: false }, axisLine: { show: false } },
    series: [
      custom("noise", bands.map(b => [1, b.from]), (params, api) => {
        const b = bands[params.dataIndex];
        const [x0, y0] = api.coord([inside(1 / (1 + b.floor)), b.from]), [x1, y1] = api.coord([inside(1 + b.floor), b.to]);
        return { type: "rect", shape: { x: x0, y: y0 + rowHeight / 2, width: x1 - x0, height: y1 - y0 }, style: { fill: band } };
      }, { z: 1 }),
      custom("baseline", [[1, 0]], (params, api) => {
        const x = api.coord([1, 0])[0], area = params.coordSys;
        return { type: "line", shape: { x1: x, x2: x, y1: area.y, y2: area.y + area.height }, style: { stroke: muted, lineWidth: 1 } };
      }, { z: 2 }),
      custom("names", rows.map((_, i) => [1, i]), (params, api) => {
        const row = rows[params.dataIndex], y = api.coord([1, params.dataIndex])[1], area = params.coordSys;
        const style = row.heading !== undefined
          ? { x: 10, y: y + 2, text: row.heading, font: `600 12px ${mono}`, fill: ink, verticalAlign: "middle", width: area.x + area.width - 12, overflow: "truncate", ellipsis: "…", backgroundColor: panel, padding: [0, 6, 0, 0] }
          : { x: area.x - 10, y, text: row.label, font: `12px ${font}`, fill: row.peer ? muted : ink, align: "right", verticalAlign: "middle", width: area.x - 20, overflow: "truncate", ellipsis: "…" };
        return { type: "text", style };
      }, { z: 3 }),
      custom("marks", marks.map(m => [m.r, m.row]), (params, api) => {
        const m = marks[params.dataIndex], at = r => api.coord([inside(r), m.row]);
        const [x, y] = at(m.r), stroke = tones[m.tone], area = params.coordSys;
        const whiskers = m.lo == null ? [] : [[m.lo, m.hi, 0], [m.lo, m.lo, 3], [m.hi, m.hi, 3]].map(([from, to, tall]) =>
          ({ type: "line", shape: { x1: at(from)[0], x2: at(to)[0], y1: y - tall, y2: y + tall }, style: { stroke, lineWidth: tall ? 1.5 : 2 } }));
        const open = m.peer || m.lo == null;
        return { type: "group", children: [
          { type: "rect", shape: { x: area.x, y: y - rowHeight / 2, width: area.width, height: rowHeight }, style: { fill: "transparent" } },
          ...whiskers,
          { type: "circle", shape: { cx: x, cy: y, r: open ? 3.5 : 4 }, style: open ? { fill: panel, stroke, lineWidth: m.lo == null ? 1 : 2 } : { fill: stroke } },
          { type: "text", silent: true, style: { x: area.x + area.width + right - 8, y, text: times(m.r) + (m.tone === "unknown" ? " ?" : ""), font: `12px ${font}`, fill: m.tone === "same" || m.tone === "unknown" ? muted : stroke, align: "right", verticalAlign: "middle" } },
        ] };
      }, { z: 4, silent: false }),
    ],
  };
}

function addForest(box) {
  const chart = data.charts[Number(box.dataset.forest)];
  addChart(box, box.dataset.label, () => rowsOf(chart).rows.length * rowHeight + 32, width => chartOption(chart, width));
}
