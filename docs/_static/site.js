"use strict";

// Tables of rules scroll on small screens, and so must be reached by the keyboard, too.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".rulecover")) {
    table.tabIndex = 0;
    table.setAttribute("role", "region");
    table.setAttribute("aria-label", "A table of rules");
  }
});
