"use strict";

setUpRules();
setUpCurves();
const embedded = document.getElementById("model");
if (embedded) setUpTry(JSON.parse(embedded.textContent));
