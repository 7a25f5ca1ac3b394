"use strict";

// A row to edit: which rules fire, how the vote goes, and which value to change for another prediction.

function setUpTry(model) {
  const section = document.getElementById("try-section");
  const answerer = makeAnswerer(model);
  const values = model.columns.map((column) => column.usual);
  const fields = model.columns.map((column, c) => document.getElementById(`field-${c}`));
  let shownRow = -1;
  let waiting = 0;

  const make = (tag, className, ...children) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  };
  const swatch = (k) => {
    const made = make("span", `swatch c${Math.min(k, 8)}`);
    made.setAttribute("aria-hidden", "true");
    return made;
  };
  const short = (number) => {
    const size = Math.abs(number);
    return size >= 1000 && size < 1e15 ? String(Math.round(number)) : String(Number(number.toPrecision(4)));
  };
  const signed = (number) => (number < 0 ? "−" : "+") + short(Math.abs(number));
  const percent = (share) => {
    const whole = Math.round(100 * share);
    if (whole === 100 && share < 1) return ">99 %";
    return whole === 0 && share > 0 ? "<1 %" : `${whole} %`;
  };
  const named = (prediction) => (model.labels ? model.labels[prediction] : short(prediction));
  const valueText = (column, value, digits = 17) => {
    if (value === null) return "missing";
    if (column.date) return dateText(value, column.whole);
    if (column.kind === "number") return String(digits < 17 ? Number(value.toPrecision(digits)) : value);
    return column.names[column.values.indexOf(value)];
  };

  // Fields -------------------------------------------------------------------------------------------------------

  function fill() {
    model.columns.forEach((column, c) => {
      const field = fields[c];
      if (column.kind === "number") field.value = values[c] === null ? "" : valueText(column, values[c]);
      else field.value = String(column.values.indexOf(values[c]));
      judge(field, true);
    });
  }

  function judge(field, fine) {
    if (fine) field.removeAttribute("aria-invalid");
    else field.setAttribute("aria-invalid", "true");
  }

  function read(c) {
    const column = model.columns[c];
    const text = fields[c].value.trim();
    if (column.kind !== "number") {
      values[c] = column.values[Number(text)];
      return;
    }
    const number = text === "" ? null : column.date ? daysOf(text) : Number(text);
    const fine = number === null ? column.missing : Number.isFinite(number);
    judge(fields[c], fine);
    if (fine) values[c] = number;
  }

  // The prediction for the row -------------------------------------------------------------------------------------

  function show() {
    const x = featuresOf(model.columns, values);
    const outcome = answerer.answer(x);
    showVerdict(outcome);
    showVotes(outcome);
    showWaterfall(outcome);
    showVoters(outcome, x);
    showNear(outcome, x);
    clearTimeout(waiting);
    waiting = setTimeout(() => showChanges(outcome), 50); // it takes longest, and need not keep up with typing
  }

  function decidedBy(outcome) {
    const fired = outcome.fired.length;
    if (fired) return fired === 1 ? "one rule fires" : `${fired} rules fire`;
    return `no rule fires; ${model.fallback_in_words}${model.has_fallback ? "" : ", and it is not in this page"}`;
  }

  function showVerdict(outcome) {
    const verdict = document.getElementById("verdict");
    verdict.dataset.prediction = outcome.prediction === null ? "" : String(model.labels ? model.labels[outcome.prediction] : outcome.prediction);
    verdict.dataset.decided = outcome.decidedBy;
    verdict.dataset.fired = outcome.fired.join(",");
    const by = decidedBy(outcome);
    const answer = outcome.prediction === null ? "not known here" : named(outcome.prediction);
    const share = outcome.shares ? `${percent(outcome.shares[outcome.prediction])}; ` : "";
    verdict.replaceChildren(make("strong", "", answer), make("span", "by", share + by));
    if (model.labels && outcome.prediction !== null) verdict.prepend(swatch(outcome.prediction));
    const truth = document.getElementById("truth");
    const row = shownRow >= 0 ? model.rows[shownRow] : null;
    const untouched = row && row.values.every((value, c) => value === values[c]);
    truth.textContent = row ? (untouched ? `In the data this row is ${row.truth}.` : `You have changed this row; in the data it is ${row.truth}.`) : "";
    if (untouched && outcome.prediction === null) truth.textContent += ` The model predicts ${row.predicted}.`;
  }

  function showVotes(outcome) {
    const list = document.getElementById("votes");
    list.replaceChildren();
    if (!outcome.shares) return;
    const order = outcome.shares.map((share, k) => k).sort((a, b) => outcome.shares[b] - outcome.shares[a] || a - b).slice(0, 8);
    for (const k of order) {
      const bar = make("span", `fill c${Math.min(k, 8)}`);
      bar.style.width = `${100 * outcome.shares[k]}%`;
      const gauge = make("span", "gauge", bar);
      gauge.setAttribute("aria-hidden", "true");
      list.append(make("li", "", make("span", "name", model.labels[k]), gauge, make("span", "number", percent(outcome.shares[k]))));
    }
  }

  function clauseChips(rule, x) {
    return model.rules[rule].clauses.map((clause) => {
      const holds = answerer.satisfies(clause, x);
      const chip = make("span", holds ? "clause" : "clause unmet", clause.text);
      if (!holds) chip.prepend(make("span", "hidden", "not satisfied: "));
      return chip;
    });
  }

  function ruleLine(rule, x, votes, weight) {
    const chips = clauseChips(rule, x);
    const condition = make("span", "chips", ...(chips.length ? chips : [make("span", "clause", "always")]));
    const line = make("li", "", make("span", "which", `Rule ${rule}`), condition);
    if (votes) line.append(voteText(votes, weight));
    return line;
  }

  function voteText(votes, weight) {
    const made = make("span", "vote");
    if (!model.labels) {
      const { centre, unit } = model;
      made.append(votes[1] ? `predicts ${short(centre + unit * (votes[0] / votes[1]))}` : `adds ${signed(unit * votes[0])}`);
      return made;
    }
    const best = votes.indexOf(votes.reduce((a, b) => Math.max(a, b)));
    const all = votes.reduce((a, b) => a + b);
    const how = model.adds ? signed(votes[best]) : percent(votes[best] / all);
    made.append(swatch(best), `${model.labels[best]}, ${how}`);
    if (weight < 1) made.append(`, ${percent(weight)} satisfied`);
    return made;
  }

  function listInto(id, title, lines, most, none) {
    const part = document.getElementById(id);
    const list = make("ul", "fired", ...lines.slice(0, most));
    part.replaceChildren(make("h3", "", title));
    if (lines.length) part.append(list);
    else part.append(make("p", "", none));
    if (lines.length > most) part.append(make("p", "soft", `and ${lines.length - most} more`));
  }

  function showVoters(outcome, x) {
    const lines = outcome.voters
      .slice()
      .sort((a, b) => b.weight - a.weight || a.rule - b.rule)
      .map((each) => ruleLine(each.rule, x, (!outcome.fired.length && model.fallback_votes || model.votes)[each.rule], each.weight));
    const title = outcome.fired.length ? "Rules that fire" : "Rules that vote instead";
    listInto("voters", title, lines, 12, "No rule votes.");
  }

  // Votes as steps from the base to the prediction: of classes the lead of the predicted one over the next.
  function stepsOf(outcome) {
    const scale = model.labels ? 1 : model.unit;
    if (outcome.prediction === null || !outcome.fired.length || (!model.labels && !model.adds)) return null;
    const rivals = model.labels ? outcome.tally.map((sum, k) => k).filter((k) => k !== outcome.prediction) : [];
    const rival = rivals.reduce((a, b) => (outcome.tally[b] > outcome.tally[a] ? b : a), rivals[0]);
    const paired = model.log_odds !== null && rivals.length === 1; // whose sums differ in sign alone
    const lead = (votes) => (model.labels ? votes[outcome.prediction] - (rivals.length && !paired ? votes[rival] : 0) : scale * votes[0]);
    const begin = (model.labels ? 0 : model.centre) + lead(model.base);
    const steps = outcome.voters.map(({ rule }) => ({ name: `Rule ${rule}`, change: lead(model.votes[rule]) }));
    return { begin, steps, rival: rivals.length && !paired ? rival : null };
  }

  function waterfallBar(from, to, low, high, className) {
    const bar = make("span", `step ${className}`);
    bar.style.left = `${100 * (Math.min(from, to) - low) / (high - low)}%`;
    bar.style.width = `${Math.max(100 * Math.abs(to - from) / (high - low), 0.6)}%`;
    const track = make("span", "track", bar);
    track.setAttribute("aria-hidden", "true");
    return track;
  }

  function showWaterfall(outcome) {
    const part = document.getElementById("waterfall");
    const found = stepsOf(outcome);
    part.replaceChildren();
    if (!found) return;
    const shown = found.steps.slice().sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
    const tail = shown.splice(12).reduce((sum, step) => sum + step.change, 0);
    if (tail) shown.push({ name: "other rules", change: tail });
    const ends = [0, found.begin];
    let at = found.begin;
    for (const step of shown) ends.push(at += step.change);
    const low = Math.min(...ends);
    const high = Math.max(...ends) === low ? low + 1 : Math.max(...ends);
    const line = (name, from, to, text, kind) => make("li", "", make("span", "", name), waterfallBar(from, to, low, high, kind), make("span", "number", text));
    const lines = [line("start", 0, found.begin, model.labels ? signed(found.begin) : short(found.begin), "sum")];
    at = found.begin;
    for (const { name, change } of shown) {
      lines.push(line(name, at, at + change, signed(change), change < 0 ? "down" : "up"));
      at += change;
    }
    lines.push(line("together", 0, at, model.labels ? signed(at) : short(at), "sum"));
    const unit = model.log_odds === null ? "votes" : "log-odds";
    const title = !model.labels ? "How the number adds up"
      : found.rival === null ? `How the ${unit} for ${named(outcome.prediction)} add up`
        : `How the lead of ${named(outcome.prediction)} over ${named(found.rival)} adds up (${unit})`;
    part.append(make("h3", "", title), make("ol", "waterfall", ...lines));
  }

  function showNear(outcome, x) {
    const near = outcome.counts.flatMap((count, j) => (count === outcome.sizes[j] - 1 ? [j] : []));
    listInto("near", "One clause short", near.map((rule) => ruleLine(rule, x, model.votes[rule], 1)), 6, "No rule is that close.");
  }

  function showChanges(outcome) {
    const part = document.getElementById("changes");
    part.replaceChildren(make("h3", "", "What would change the prediction"));
    const found = outcome.prediction === null ? [] : changes(model, answerer, values).slice(0, 6);
    if (!found.length) {
      part.append(make("p", "", "Neither a single value nor making a rule fire does."));
      return;
    }
    const list = make("ul", "changes");
    for (const { steps, prediction } of found) {
      const words = steps.map(({ column, value }) => {
        const { name } = model.columns[column];
        return `${name}: ${valueText(model.columns[column], values[column], 6)} → ${valueText(model.columns[column], value)}`;
      });
      const leads = make("span", "leads", `gives ${named(prediction)}`);
      const button = make("button", "change", make("span", "words", words.join(", ")), leads);
      button.type = "button";
      button.addEventListener("click", () => {
        for (const { column, value } of steps) values[column] = value;
        fill();
        show();
        document.getElementById("verdict").focus();
      });
      list.append(make("li", "", button));
    }
    part.append(list);
  }

  // Rows to pick -------------------------------------------------------------------------------------------------

  const picker = document.getElementById("pick");

  function pick(row) {
    shownRow = row;
    model.rows[row].values.forEach((value, c) => { values[c] = value; });
    if (picker) picker.value = String(row);
    fill();
    show();
  }

  fields.forEach((field, c) => field.addEventListener("input", () => { read(c); show(); }));
  if (picker) picker.addEventListener("change", () => pick(Number(picker.value)));
  for (const link of document.querySelectorAll("[data-row]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      pick(Number(link.dataset.row));
      section.scrollIntoView();
      document.getElementById("verdict").focus({ preventScroll: true });
    });
  }
  section.hidden = false;
  if (model.rows.length) pick(0);
  else { fill(); show(); }
}
