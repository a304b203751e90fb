// ---- Leader election: how long failovers took, current against recommended settings.
document.querySelectorAll("[data-election]").forEach(place => {
  for (const d of data.election) {
    const series = d.lines.map(l => ({ name: l.name, baseline: l.name === "current", points: l.points }));
    addChart(place, `${d.title}: share of the runs, by time. A table on this page holds the same figures.`, 300, width => lineOption({
      title: `${d.title}, share of the runs`, width, x: { text: v => v ? timeText(v) : "0", min: 0 }, y: { text: v => (100 * v).toFixed(v > 0.99 && v < 1 ? 1 : 0) + " %" }, series,
    }));
  }
  place.before(legendOf(["current", "recommended"].map(name => ({ name, baseline: name === "current" }))));
});
