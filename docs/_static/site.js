"use strict";

// Tables of rules scroll on small screens, and so must be reached by the keyboard, too.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".rulecover")) {
    table.tabIndex = 0;
    table.setAttribute("role", "region");
    table.setAttribute("aria-label", "A table of rules");
  }
  // The theme gives the toggles of the page tree no name.
  for (const toggle of document.querySelectorAll("summary:has(.toctree-toggle)")) {
    const entry = toggle.closest("li").querySelector("a");
    toggle.setAttribute("aria-label", `Pages of ${entry.textContent.trim()}`);
  }
  // The gallery hides the text of the link that lies over each picture.
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
});
