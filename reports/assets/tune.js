// ---- Settings: what was found for one queue, as charts beside their tables.
const secondsText = v => v == null || v >= 1e10 ? "unbounded" : timeText(v);

function tuneViewer(box) {
  const queue = data.tune[Number(box.dataset.tune)];
  const place = box.querySelector(".panels");
  if (!place) return;
  const chart = (label, option, height = 300) => addChart(place, `${queue.queue}: ${label}. A table on this page holds the same figures.`, height, option);
  const r = queue.reproduction;
  if (r) for (const [name, buckets] of [["Queue wait", r.wait], ["Work duration", r.work]]) {
    if (!buckets.length) continue;
    const labels = buckets.map(b => b.high ? "≤ " + timeText(b.high) : "longer");
    chart(`${name}, measured and by the model, share of each bucket`, width => lineOption({ keyed: true,
      title: `${name}: measured, and by the model`, width, x: { labels, name: "bucket" }, y: { text: v => (100 * v).toFixed(v < 0.1 ? 1 : 0) + " %" },
      series: [
        { name: "measured", baseline: true, points: buckets.map((b, i) => [i, b.measured]) },
        { name: "model", points: buckets.map((b, i) => [i, b.model, b.from, b.to]) },
      ],
    }));
  }
  if (queue.pareto && queue.pareto.length > 1) {
    const mark = (name, m) => m ? [{ name, points: [[m.cost, m.settle]] }] : [];
    chart("cost against the 99th percentile from event to settled", width => lineOption({ keyed: true,
      title: "99th percentile from event to settled, by cost", width,
      x: { text: v => String(Number(v.toPrecision(3))), name: "cost, in workers (ten calls a second are one)" }, y: { log: true, text: secondsText },
      series: [{ name: "best for its cost", baseline: true, points: queue.pareto.map(p => [p.cost, p.settleP99]) }, ...mark("current", queue.now), ...mark("recommended", queue.then)],
    }));
  }
  for (const c of queue.curves || []) {
    const labels = c.points.map(p => p.value + (p.chosen ? " ◂" : ""));
    const line = (name, key) => ({ name, points: c.points.map((p, i) => p.stable ? [i, Math.max(p[key].mean, 1e-6), Math.max(p[key].low, 1e-6), Math.max(p[key].high, 1e-6)] : [i, null]) });
    chart(`what if ${c.title} varied`, width => lineOption({ keyed: true,
      title: `What if ${c.title} varied`, width, x: { labels, name: c.title }, y: { log: true, text: v => v <= 1e-6 ? "none" : secondsText(v) },
      series: [line("wait, p99", "waitP99"), line("settled, p99", "settleP99")],
    }));
  }
}
document.querySelectorAll("[data-tune]").forEach(tuneViewer);
