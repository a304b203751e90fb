// ---- Start.
document.querySelectorAll("[data-forest]").forEach(addForest);
document.querySelectorAll("[data-scaling]").forEach(scalingViewer);
document.querySelectorAll("[data-memory]").forEach(memoryChart);
document.querySelectorAll("[data-drive]").forEach(driveViewer);
document.querySelectorAll("[data-flames]").forEach(flameViewer);
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
followWidth();
addEventListener("hashchange", unfoldTarget);
unfoldTarget();
document.documentElement.dataset.ready = "true";
