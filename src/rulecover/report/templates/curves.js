"use strict";

// The threshold of a class: a slider along its ROC and precision-recall curves, and what it means in rows.

function setUpCurves() {
  const part = document.getElementById("curves");
  if (!part) return;
  const curves = JSON.parse(part.dataset.curves);
  const slider = document.getElementById("threshold");
  const choice = document.getElementById("curve-class");
  const words = document.getElementById("at-threshold");
  let curve = curves[0];

  function place(name, x, y) {
    const dot = document.getElementById(`dot-${name}`);
    dot.setAttribute("cx", String(100 * x));
    dot.setAttribute("cy", String(100 - 100 * y));
    dot.setAttribute("visibility", "visible");
  }

  function show() {
    const k = Number(slider.value);
    const found = curve.found[k];
    const alarms = curve.alarms[k];
    const recall = found / curve.rows;
    const precision = found / (found + alarms);
    const threshold = curve.thresholds[k];
    words.textContent = `With ${curve.name} predicted from a probability of ${threshold} on: ${found} of ${curve.rows} are found `
      + `(recall ${recall.toFixed(3)}), and ${found} of ${found + alarms} such predictions are right (precision ${precision.toFixed(3)}).`;
    slider.setAttribute("aria-valuetext", `${threshold}: recall ${recall.toFixed(2)}, precision ${precision.toFixed(2)}`);
    place("roc", alarms / curve.others, recall);
    place("precision_recall", recall, precision);
  }

  function take(k) {
    curve = curves[k];
    slider.max = String(curve.thresholds.length - 1);
    slider.value = String(curve.start);
    document.getElementById("curve-roc").setAttribute("d", curve.roc);
    document.getElementById("curve-precision_recall").setAttribute("d", curve.precision_recall);
    show();
  }

  slider.addEventListener("input", show);
  if (choice) choice.addEventListener("change", () => take(Number(choice.value)));
  document.getElementById("threshold-tools").hidden = false;
  take(0);
}
