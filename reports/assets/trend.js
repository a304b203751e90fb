// ---- A series over many results, with the levels between its changes.
function trendChart(box) {
  const c = data.trend[Number(box.dataset.trend)];
  const text = v => c.ratio ? times(v) : c.unit.startsWith("sec") || c.unit.includes("-sec") ? timeText(v) : countText(v);
  const levels = c.levels.flatMap(l => [[l.from, l.value], [l.to, l.value], [l.to, null]]);
  addChart(box, `${c.title}, ${c.unit}, over ${c.values.length} results. The table below holds the same changes.`, 240, () => {
    const ink = colour("--ink"), muted = colour("--muted"), line = colour("--line"), panel = colour("--panel");
    const safe = echarts.format.encodeHTML;
    return {
      animation: false, backgroundColor: "transparent", textStyle: { fontFamily: font, color: ink }, aria: { enabled: false },
      grid: { left: 72, right: 20, top: 28, bottom: 30 },
      tooltip: { trigger: "item", confine: true, backgroundColor: panel, borderColor: line, textStyle: { color: ink, fontSize: 13 },
        formatter: p => p.seriesName === "results" ? `<b>${safe(c.labels[p.value[0]])}</b><br>${text(p.value[1])}` : "" },
      xAxis: { type: "value", min: -1, max: c.values.length, interval: Math.ceil(c.values.length / 6), splitLine: { show: false },
        axisLine: { lineStyle: { color: line } }, axisTick: { show: false },
        axisLabel: { color: muted, fontSize: 11, formatter: v => { const l = c.labels[v] || ""; return l.length > 12 ? l.slice(0, 11) + "…" : l; } } },
      yAxis: { type: "value", scale: true, axisLabel: { color: muted, fontSize: 11, formatter: text }, splitLine: { lineStyle: { color: line } } },
      series: [
        { name: "results", type: "scatter", symbolSize: 6, itemStyle: { color: muted }, data: c.values.map((v, i) => [i, v]) },
        { name: "levels", type: "line", symbol: "none", lineStyle: { color: colour("--v0"), width: 2 }, data: levels, silent: true,
          markLine: { symbol: "none", silent: true, lineStyle: { color: colour("--v1"), type: "dashed" }, label: { color: ink, fontSize: 11, formatter: p => p.name },
            data: c.levels.slice(1).map(l => ({ name: l.step, xAxis: l.from - 0.5 })) } },
      ],
    };
  });
}
document.querySelectorAll("[data-trend]").forEach(trendChart);
