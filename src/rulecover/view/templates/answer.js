"use strict";

// What the rules answer for a row: the same steps, in the same order of additions, as `predict` takes them.
// A row is an object from the numbers of features to values, NaN where a value is missing.

function makeAnswerer(model) {
  const add = (sums, votes, times) => sums.map((sum, k) => sum + times * votes[k]);

  function met(clause, x) {
    const value = x[clause.feature];
    if (Number.isNaN(value)) return clause.missing;
    if (clause.impossible) return false;
    if (clause.codes !== null) return clause.codes.includes(value) !== clause.others;
    return (clause.above === null || value > clause.above) && (clause.up_to === null || value <= clause.up_to);
  }

  const count = (clauses, x) => clauses.reduce((sum, clause) => sum + (met(clause, x) ? 1 : 0), 0);

  // Which rules fire and which have a say, how much of a say, and the sums of votes.
  function votes(x) {
    const counts = model.rules.map((rule) => count(rule.clauses, x));
    const sizes = model.rules.map((rule) => rule.clauses.length);
    const fired = counts.flatMap((number, j) => (number === sizes[j] ? [j] : []));
    let speakers = fired.map((rule) => ({ rule, weight: 1, votes: model.votes[rule] }));
    let tally = model.base.slice();
    if (!fired.length && model.fallback === "closest") {
      const shares = counts.map((number, j) => number / sizes[j]);
      const best = shares.reduce((a, b) => Math.max(a, b));
      speakers = shares.flatMap((share, rule) =>
        share === best ? [{ rule, weight: share, votes: (model.afar || model.votes)[rule] }] : []);
    } else if (!fired.length && model.fallback === "all") {
      const along = model.paths || model.rules.map((rule) => rule.clauses);
      speakers = along.flatMap((clauses, rule) => {
        const number = count(clauses, x);
        return number ? [{ rule, weight: number / clauses.length, votes: model.votes_each[rule], times: number }] : [];
      });
    } else if (!fired.length && model.fallback === "majority") {
      tally = add(tally, model.totals, 1);
    }
    for (const each of speakers) tally = add(tally, each.votes, each.times || 1);
    return { counts, sizes, fired, speakers, tally };
  }

  function shares(tally) {
    if (!model.nearest) {
      const all = tally.reduce((a, b) => a + b);
      return tally.map((sum) => sum / all);
    }
    let sum = 0;
    const surplus = tally.slice().sort((a, b) => b - a).map((vote, k) => (sum += vote, (sum - 1) / (k + 1)));
    const most = surplus.reduce((a, b) => Math.max(a, b));
    return tally.map((vote) => Math.max(vote - most, 0));
  }

  // The whole answer; `prediction` is null where the model behind the rules would have to be asked.
  function answer(x) {
    const said = votes(x);
    const decidedBy = said.fired.length ? "rules" : model.fallback;
    if (decidedBy === "model") return { ...said, decidedBy, prediction: null, shares: null };
    if (!model.labels) {
      const tally = said.tally[1] > 0 ? said.tally : model.totals;
      return { ...said, tally, decidedBy, prediction: tally[0] / tally[1], shares: null };
    }
    const heard = model.nearest || said.tally.reduce((a, b) => a + b) > 0;
    const tally = heard ? said.tally : model.totals;
    const best = tally.indexOf(tally.reduce((a, b) => Math.max(a, b)));
    return { ...said, tally, decidedBy, prediction: best, shares: shares(tally) };
  }

  return { met, answer };
}

// From what is in the fields, one value a column, to a row of features.
function featuresOf(columns, values) {
  const x = {};
  columns.forEach((column, c) => {
    const value = values[c];
    if (column.kind === "levels") {
      column.features.forEach((feature, k) => { x[feature] = value === column.levels[k] ? 1 : 0; });
    } else if (column.kind === "codes") {
      x[column.features[0]] = value === null ? NaN : value;
    } else {
      x[column.features[0]] = value === null || (column.zero && Math.abs(value) <= column.zero) ? NaN : value;
    }
  });
  return x;
}

// Single changes that lead to another answer: for each column the nearest value that does, the smallest change first.
function changes(model, answerer, values) {
  const now = answerer.answer(featuresOf(model.columns, values)).prediction;
  const found = [];
  model.columns.forEach((column, c) => {
    let nearest = null;
    for (const value of candidates(model, column, values[c])) {
      const other = values.slice();
      other[c] = value;
      const { prediction } = answerer.answer(featuresOf(model.columns, other));
      if (prediction === now || prediction === null) continue;
      const step = distance(column, values[c], value);
      if (nearest === null || step < nearest.step) nearest = { column: c, value, prediction, step };
    }
    if (nearest) found.push(nearest);
  });
  return found.sort((a, b) => a.step - b.step);
}

function distance(column, from, to) {
  if (from === null || to === null || column.kind !== "number") return 1;
  return Math.abs(to - from) / column.scale;
}

// Values of a column on both sides of every bound, and all its categories, but not the one that it has.
function candidates(model, column, current) {
  if (column.kind !== "number") return column.values.filter((value) => value !== current);
  const clauses = model.rules.flatMap((rule) => rule.clauses).filter((clause) => clause.feature === column.features[0]);
  const bounds = clauses.flatMap((clause) => [clause.above, clause.up_to, ...(clause.codes || [])]);
  const found = new Set();
  for (const bound of bounds) if (bound !== null) { found.add(bound); found.add(shortAbove(bound, column.scale)); }
  if (column.missing) found.add(null);
  found.delete(current);
  return [...found];
}

// A short number a little above a bound.
function shortAbove(bound, scale) {
  for (let digits = 2 - Math.floor(Math.log10(scale)); digits <= 15; digits += 1) {
    const unit = 10 ** -Math.max(digits, -15);
    const number = Number((Math.floor(bound / unit) * unit + unit).toPrecision(15));
    if (number > bound && number - bound <= scale / 20) return number;
  }
  return bound + Math.max(Math.abs(bound) * 2 ** -52, Number.MIN_VALUE);
}
