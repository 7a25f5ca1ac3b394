"use strict";

setUpRules();
const embedded = document.getElementById("model");
if (embedded) setUpTry(JSON.parse(embedded.textContent));
