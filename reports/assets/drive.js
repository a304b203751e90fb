// ---- Drives: latency by percentile, and what happened second by second.
function driveViewer(box) {
  const { arms, stages } = data.drive;
  const controls = element("div", "choices"), latency = element("div", "latency"), about = element("figcaption");
  const stage = choice("Latency", stages.map(s => [s.name, s.name]), (stages.find(s => s.name === "settled") || stages[0]).name);
  controls.append(stage.wrap);
  const nines = q => -Math.log10(1 - q);
  const ticks = [[nines(0.25), "25%"], [nines(0.5), "50%"], [1, "90%"], [2, "99%"], [3, "99.9%"], [4, "99.99%"], [5, "99.999%"]];
  const curves = () => arms.map(a => ({ ...a, points: (a.latencies[stage.select.value] || []).filter(p => p[0] >= 0.25 && p[0] < 1).map(p => [nines(p[0]), p[1], p[2], p[3]]) }));
  box.append(controls, legendOf(arms), latency, about);
  addChart(latency, "Latency by percentile, one line an arm. The table below holds the same figures.", 340, width => {
    const series = curves();
    return lineOption({ series, band: true, width, title: stage.select.value,
      x: { name: "share of events that took at most so long", ticks: ticks.filter(t => t[0] <= 1e-6 + Math.max(1, ...series.flatMap(s => s.points.map(p => p[0])))), min: nines(0.25), max: Math.max(1, ...series.flatMap(s => s.points.map(p => p[0]))), text: v => `${Number((100 * (1 - 10 ** -v)).toPrecision(5))} %` },
      y: { log: true, text: timeText } });
  });
  const draw = () => {
    const what = stages.find(s => s.name === stage.select.value).what;
    about.textContent = `${stage.select.value[0].toUpperCase() + stage.select.value.slice(1)}: ${what}. Read upwards at the percentile that you promise: the lower line keeps it better. A line is the median of the rounds, the shade their smallest and largest; where shades overlap, run more rounds before you choose.`;
    drawWithin(latency);
  };
  stage.select.addEventListener("change", draw);
  draw();

  const timed = arms.filter(a => a.ticks.length);
  if (!timed.length) return;
  const timelines = element("div", "timelines"), grid = element("div", "panels");
  timelines.append(element("h3", "", "Second by second"));
  box.append(timelines);
  timelines.append(element("p", "lead", "One round of each arm, the one whose p99 is the median. Depth that rises while events still arrive says that the workers cannot keep up: add workers or make reconciles shorter. A peak that takes long to drain is a burst that the rate limiter or the client limit stretches."), legendOf(arms), grid);
  const columns = [[1, "Events sent a second", countText], [2, "Reconciles a second", countText], [3, "Work queue depth", countText], [4, "Events due and not settled", countText],
    [5, "Settled: p99 in the second", timeText, true], [6, "Queue wait: p99 in the second", timeText, true], [7, "Processors in use", v => v == null ? "–" : digits(v)], [8, "Heap", bytesText, false, true]];
  for (const [column, title, text, log, binary] of columns) {
    const series = arms.map(a => ({ ...a, points: a.ticks.map(t => [t[0], log && !(t[column] > 0) ? null : t[column]]) }));
    if (!series.some(s => s.points.some(p => p[1] > 0))) continue;
    addChart(grid, `${title} over time, one line an arm. The table below holds the same figures.`, 230,
      width => lineOption({ series, width, title, x: { text: v => digits(v) + " s", min: 0, max: Math.ceil(Math.max(...timed.map(a => a.ticks.at(-1)[0]))) }, y: { log, text, binary } }));
  }
  const rows = timed.flatMap(a => a.ticks.map(t => [{ text: digits(t[0]) + " s", v: t[0] }, a.name, ...columns.map(([c, , text]) => ({ text: text(t[c]), v: t[c] }))]));
  const place = element("div");
  place.append(dataTable("The figures of the timelines.", [["Time", "number"], ["Arm", "text"], ...columns.map(c => [c[1], "number"])], rows));
  timelines.append(foldTable(place, "Timelines as a table", true));
}
