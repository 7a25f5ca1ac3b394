"use strict";

// The table of rules: sorted by a click on a heading, searched by words, and at first no longer than a page or two.

function setUpRules() {
  const table = document.querySelector("table.rules");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const search = document.getElementById("search");
  const only = document.getElementById("only");
  const status = document.getElementById("found");
  const more = document.getElementById("more");
  const first = 10;
  let all = rows.length <= first + 2;

  function show() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const row of body.rows) {
      const text = row.dataset.text;
      const fits = words.every((word) => text.includes(word)) && (!only || !only.value || row.dataset.then === only.value);
      found += fits ? 1 : 0;
      row.hidden = !fits || (!all && found > first);
    }
    more.hidden = all || found <= first;
    more.textContent = `Show all ${found} rules`;
    const narrowed = words.length || (only && only.value);
    status.textContent = narrowed ? `${found} of ${rows.length} rules` : "";
  }

  function sortBy(heading) {
    const column = heading.cellIndex;
    const falling = heading.getAttribute("aria-sort") === "ascending"
      || (heading.getAttribute("aria-sort") !== "descending" && heading.dataset.first === "falling");
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const key = (row) => row.cells[column].dataset.key;
    const compare = heading.dataset.kind === "text"
      ? (a, b) => key(a).localeCompare(key(b))
      : (a, b) => Number(key(a)) - Number(key(b));
    body.append(...rows.slice().sort((a, b) => (falling ? -1 : 1) * compare(a, b)));
    show();
  }

  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => sortBy(button.closest("th")));
  }
  search.addEventListener("input", show);
  if (only) only.addEventListener("change", show);
  more.addEventListener("click", () => { all = true; show(); search.focus(); });
  addEventListener("beforeprint", () => { for (const row of rows) row.hidden = false; });
  addEventListener("afterprint", show);
  document.getElementById("tools").hidden = false;
  show();
}
