// ---- Scaling: families of cases that differ in one number.
function scalingViewer(box) {
  const chart = data.charts[Number(box.dataset.scaling)];
  const controls = element("div", "choices"), legend = element("div"), charts = element("div", "panels"), place = element("div");
  const family = choice("Cases", chart.scales.map((s, i) => [String(i), `${s.name}, ${s.points.length} steps of ${s.parameter}`]), "0");
  controls.append(family.wrap);
  box.append(controls, legend, charts, place);
  const chosen = () => chart.scales[Number(family.select.value)];
  const seriesOf = pick => chart.variants.map((v, i) => ({
    ...v, points: chosen().points.map((p, step) => {
      const value = chart.cases[p.case].values.find(x => x.v === i);
      return [step, ...(value ? pick(value) : [null])];
    }),
  }));
  const axis = () => ({ labels: chosen().points.map(p => p.label), name: chosen().parameter });
  const has = key => chosen().points.some(p => chart.cases[p.case].values.some(x => x[key] != null));
  const add = (label, title, pick, y, key) => {
    const box = addChart(charts, `${chart.title}: ${label} by size, one line a variant. The table below holds the same figures.`, 300,
      width => lineOption({ series: seriesOf(pick), x: axis(), y, title: title(), width }));
    return () => { box.hidden = !has(key); };
  };
  const hide = [
    add("time an item", () => chart.cases[chosen().points[0].case].time + " an item", x => [x.t, x.lo, x.hi], { log: true, text: timeText }, "t"),
    add("ratio", () => "Times as fast as " + chart.baseline, x => [x.r], { log: true, one: true, text: times }, "r"),
    ...(chart.cases.some(c => c.values.some(x => x.m > 0)) ? [add("memory", () => "Live memory an item", x => [x.m > 0 ? x.m : null], { log: true, text: bytesText }, "m")] : []),
  ];
  const draw = () => {
    const s = chosen();
    hide.forEach(f => f());
    legend.replaceChildren(legendOf(chart.variants));
    const rows = s.points.flatMap(p => chart.cases[p.case].values.map(x => [
      { text: p.label, v: p.x }, chart.variants[x.v].name, { text: timeText(x.t), v: x.t }, { text: x.lo == null ? "–" : `${timeText(x.lo)} to ${timeText(x.hi)}`, v: x.lo },
      { text: times(x.r), v: x.r }, { text: bytesText(x.m), v: x.m }]));
    place.replaceChildren(dataTable(`${s.name}: the figures of the charts.`,
      [[s.parameter, "number"], ["Variant", "text"], [chart.cases[s.points[0].case].time + " an item", "number"], ["interval", "number"], ["× " + chart.baseline, "number"], ["live memory an item", "number"]], rows));
    addTableTools(place);
    drawWithin(charts);
  };
  family.select.addEventListener("change", draw);
  draw();
}

// ---- Memory: live bytes an item, one line a case and one mark a variant.
function memoryChart(box) {
  const chart = data.charts[Number(box.dataset.memory)];
  const cases = chart.cases.filter(c => c.values.some(x => x.m != null));
  const step = 40;
  box.append(legendOf(chart.variants));
  addChart(box, `${chart.title}: live memory an item by case and variant. The table below holds the same figures.`, cases.length * step + 40, width => {
    const ink = colour("--ink"), muted = colour("--muted"), line = colour("--line"), panel = colour("--panel");
    const values = cases.flatMap(c => c.values.map(x => x.m)).filter(m => m > 0).map(Math.log10);
    const low = Math.min(...values) - 0.08, high = Math.max(...values) + 0.08, ticks = logTicks(low, high);
    return {
      animation: false, backgroundColor: "transparent", textStyle: { fontFamily: font, color: ink }, aria: { enabled: false },
      grid: { left: 14, right: 24, top: 8, bottom: 28 },
      tooltip: { trigger: "item", confine: true, backgroundColor: panel, borderColor: line, textStyle: { color: ink, fontSize: 13 },
        formatter: p => `<b>${echarts.format.encodeHTML(p.seriesName)}</b> ${bytesText(10 ** p.value[0])} an item<br><small>${echarts.format.encodeHTML(cases[p.value[1]].name)}</small>` },
      xAxis: { type: "value", min: low, max: high, axisLabel: { color: muted, formatter: v => bytesText(Number((10 ** v).toPrecision(6))), customValues: ticks, hideOverlap: true }, axisTick: { show: false, customValues: ticks }, splitLine: { lineStyle: { color: line } } },
      yAxis: { type: "category", inverse: true, data: cases.map((_, i) => i), axisLabel: { show: false }, axisTick: { show: false }, axisLine: { show: false } },
      series: [
        ...chart.variants.map((v, i) => {
          const style = styleOf(v, i);
          return { name: v.name, type: "scatter", symbol: style.symbol, symbolSize: 11, symbolOffset: [0, 8], animation: false, z: 3, itemStyle: { color: style.color, opacity: 0.9 },
            data: cases.flatMap((c, row) => c.values.filter(x => x.v === i && x.m > 0).map(x => [Math.log10(x.m), row])) };
        }),
        { name: "names", type: "custom", silent: true, z: 2, animation: false, data: cases.map((_, i) => [low, i]), renderItem: (params, api) => {
          const [x, y] = api.coord([low, params.dataIndex]), area = params.coordSys;
          return { type: "group", children: [
            { type: "line", shape: { x1: area.x, x2: area.x + area.width, y1: y + 8, y2: y + 8 }, style: { stroke: line } },
            { type: "text", style: { x, y: y - 8, text: cases[params.dataIndex].name, font: `12px ${mono}`, fill: ink, verticalAlign: "middle", width: area.width, overflow: "truncate", ellipsis: "…", backgroundColor: panel } }] };
        } },
      ],
    };
  });
  const place = element("div"), rows = cases.flatMap(c => c.values.filter(x => x.m != null).map(x => {
    const base = c.values.find(y => chart.variants[y.v].baseline);
    const part = base && base.m > 0 ? x.m / base.m : null;
    return [c.name, chart.variants[x.v].name, { text: bytesText(x.m), v: x.m }, { text: part == null ? "–" : part.toFixed(2) + "×", v: part }];
  }));
  place.append(dataTable("Bytes that stay on the heap for each item, beyond the keys and objects themselves.", [["Case", "text"], ["Variant", "text"], ["live memory an item", "number"], ["of " + chart.baseline + "’s", "number"]], rows));
  box.append(foldTable(place, "Memory as a table"));
}

function foldTable(place, title, long) {
  const fold = element("details", long ? "fold long" : "fold"); // what is long is not printed
  fold.append(element("summary", "", title), place);
  addTableTools(place);
  return fold;
}
