"use strict";

// The page to try: a slider over the rule sets of a path, and a row whose votes change with it.

(function () {
  const { columns, rows, sizes, forest, chosen } = PATH;
  const element = (id) => document.getElementById(id);
  const slider = element("size");
  const picker = element("live-row");
  const labels = sizes[0].model.labels;
  const digits = (number) => number.toFixed(3);
  const signed = (number) => (number < 0 ? "−" : "+") + Math.abs(number).toFixed(2);

  function make(tag, text, className) {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function svg(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  const low = Math.floor(20 * Math.min(...sizes.map(({ accuracy }) => accuracy))) / 20 - 0.02;
  const x = (size) => 34 + (274 * (size - 1)) / (sizes.length - 1);
  const y = (accuracy) => 125 - (110 * (accuracy - low)) / (1 - low);

  function drawChart() {
    const chart = element("live-chart");
    chart.append(svg("line", { x1: 34, x2: 308, y1: y(forest), y2: y(forest), class: "forest" }));
    chart.append(svg("polyline", { points: sizes.map((each) => `${x(each.size)},${y(each.accuracy)}`).join(" "), class: "path" }));
    chart.append(svg("circle", { id: "live-dot", r: 5 }));
    const texts = [[34, 142, "1"], [300, 142, String(sizes.length)], [155, 142, "rules"], [34, 12, "accuracy"], [0, y(1) + 4, "1.00"], [0, y(low) + 4, low.toFixed(2)], [200, y(forest) - 4, "forest"]];
    for (const [left, top, text] of texts) {
      const made = svg("text", { x: left, y: top });
      made.textContent = text;
      chart.append(made);
    }
  }

  function showFigures(each) {
    element("size-shown").textContent = each.size === chosen ? `${each.size} (chosen by cross-validation)` : String(each.size);
    const figures = element("live-figures");
    figures.replaceChildren(
      make("strong", digits(each.accuracy)),
      make("span", ` of the held-out rows are right (95 % interval ${digits(each.low)} to ${digits(each.high)}); the forest: ${digits(forest)}. The rules agree with the forest on ${Math.round(100 * each.fidelity)} %.`),
    );
    const dot = element("live-dot");
    dot.setAttribute("cx", x(each.size));
    dot.setAttribute("cy", y(each.accuracy));
  }

  function showRow(each) {
    const row = rows[Number(picker.value)];
    const features = featuresOf(columns, row.values);
    const outcome = makeAnswerer(each.model).answer(features);
    const fired = new Set(outcome.fired);
    const body = element("live-rules");
    const votesFor = labels.length - 1;
    body.replaceChildren(...each.texts.map((text, j) => {
      const line = make("tr", "", fired.has(j) ? "fires" : "");
      const vote = each.model.votes[j][votesFor] * (each.model.log_odds || 1);
      line.append(make("th", String(j)), make("td", text), make("td", `${signed(vote)} for ${labels[votesFor]}`, "number"), make("td", fired.has(j) ? "fires" : "–"));
      line.firstChild.scope = "row";
      return line;
    }));
    const share = Math.min(99, Math.round(100 * outcome.shares[outcome.prediction]));
    const right = labels[outcome.prediction] === String(row.truth);
    element("live-verdict").textContent = `Predicted ${labels[outcome.prediction]}, probability ${share} %: ${right ? "right" : `wrong, it is ${row.truth}`}. ${fired.size} of ${each.size} rules fire.`;
  }

  function show() {
    const each = sizes[Number(slider.value) - 1];
    showFigures(each);
    showRow(each);
  }

  rows.forEach((row, k) => {
    const option = make("option", `row ${row.number}: ${row.truth}`);
    option.value = String(k);
    picker.append(option);
  });
  slider.max = String(sizes.length);
  slider.value = String(Math.min(3, sizes.length));
  slider.addEventListener("input", show);
  picker.addEventListener("change", show);
  drawChart();
  show();
  element("live").hidden = false;
}());
