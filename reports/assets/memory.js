// ---- Memory: where the bytes are, how they grow, and the start's timeline.
document.querySelectorAll("[data-bytes]").forEach(place => {
  const { parts, sizes, timeline } = data.memory;
  addChart(place, "Bytes of an object by part. A table on this page holds the same figures.", 30 * parts.length + 50, width => {
    const ink = colour("--ink"), muted = colour("--muted"), line = colour("--line");
    return {
      animation: false, backgroundColor: "transparent", textStyle: { fontFamily: font, color: ink }, aria: { enabled: false },
      title: { text: "Bytes of an object", left: 10, top: 7, textStyle: { color: ink, fontSize: 13, fontWeight: 600 } },
      grid: { left: 10, right: 70, top: 38, bottom: 6, containLabel: true },
      xAxis: { type: "value", axisLabel: { color: muted, formatter: v => round(bytesText(v)), hideOverlap: true }, splitLine: { lineStyle: { color: line } } },
      yAxis: { type: "category", inverse: true, data: parts.map(p => p.name), axisLabel: { color: ink, width: width / 3, overflow: "truncate" }, axisTick: { show: false }, axisLine: { lineStyle: { color: line } } },
      series: [{ type: "bar", animation: false, data: parts.map(p => p.bytes), itemStyle: { color: colour("--v0") }, label: { show: true, position: "right", color: ink, formatter: p => bytesText(p.value) } }],
    };
  });
  const bytes = { text: bytesText, binary: true };
  addChart(place, "Memory over the number of objects. A table on this page holds the figures of the last point.", 300, width => lineOption({
    title: "Memory over objects", width, band: true, x: { text: countText, min: 0, name: "objects" }, y: bytes, series: sizes,
  }));
  if (timeline[0].points.length) addChart(place, "Heap and resident set during a start.", 300, width => lineOption({
    title: "A start with the most objects measured", width, keyed: true, x: { text: v => v ? timeText(v) : "0", min: 0 }, y: bytes, series: timeline,
  }));
  place.before(legendOf(sizes));
});
