"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  document.documentElement.dataset.charts = data.length;
})();
