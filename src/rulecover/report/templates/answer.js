"use strict";

// What the rules predict for a row: the same steps, in the same order of additions, as in `predict`.
// A row is an object from the numbers of features to values, NaN where a value is missing.

function makeAnswerer(model) {
  const add = (sums, votes, times) => sums.map((sum, k) => sum + times * votes[k]);

  function satisfies(clause, x) {
    const value = x[clause.feature];
    if (Number.isNaN(value)) return Boolean(clause.missing);
    if (clause.impossible) return false;
    if (clause.codes) return clause.codes.includes(value) !== Boolean(clause.others);
    return !(value <= clause.above) && !(value > clause.up_to); // a bound that is absent compares as false
  }

  const count = (clauses, x) => clauses.reduce((sum, clause) => sum + (satisfies(clause, x) ? 1 : 0), 0);

  // The rules that vote for a row that none of them covers: the closest, or all times their satisfied conditions.
  function nearby(x) {
    const counted = model.paths || model.rules.map((rule) => rule.clauses);
    const counts = counted.map((clauses) => count(clauses, x));
    const shares = counts.map((number, j) => number / counted[j].length);
    const best = shares.reduce((a, b) => Math.max(a, b));
    return shares.flatMap((weight, rule) => {
      if (!model.closest) return weight ? [{ rule, weight, votes: model.votes_each[rule], times: counts[rule] }] : [];
      return weight === best ? [{ rule, weight, votes: (model.fallback_votes || model.votes)[rule] }] : [];
    });
  }

  // Which rules fire and which vote, with what weight, and the sums of votes.
  function votes(x) {
    const counts = model.rules.map((rule) => count(rule.clauses, x));
    const sizes = model.rules.map((rule) => rule.clauses.length);
    const fired = counts.flatMap((number, j) => (number === sizes[j] ? [j] : []));
    let voters = fired.map((rule) => ({ rule, weight: 1, votes: model.votes[rule] }));
    const begins = fired.length || model.fallback_adds_to_base;
    let tally = begins ? model.base.slice() : model.constant ? model.constant.slice() : model.base.map(() => 0);
    if (!fired.length && !model.constant) voters = nearby(x);
    for (const each of voters) tally = add(tally, each.votes, each.times || 1);
    return { counts, sizes, fired, voters, tally };
  }

  function shares(tally) {
    if (model.log_odds !== null) {
      const most = tally.reduce((a, b) => Math.max(a, b));
      const odds = tally.map((sum) => Math.exp(Math.max(model.log_odds * (sum - most), -model.largest_log_odds)));
      const all = odds.reduce((a, b) => a + b);
      return odds.map((each) => each / all);
    }
    if (!model.nearest) {
      const all = tally.reduce((a, b) => a + b);
      return tally.map((sum) => sum / all);
    }
    let sum = 0;
    const surplus = tally.slice().sort((a, b) => b - a).map((vote, k) => (sum += vote, (sum - 1) / (k + 1)));
    const most = surplus.reduce((a, b) => Math.max(a, b));
    return tally.map((vote) => Math.max(vote - most, 0));
  }

  // The whole outcome; `prediction` is null where more than the rules would be needed.
  function answer(x) {
    const outcome = votes(x);
    const decidedBy = outcome.fired.length ? "rules" : model.fallback;
    if (!outcome.fired.length && !model.has_fallback) return { ...outcome, decidedBy, prediction: null, shares: null };
    if (!model.labels) {
      const tally = outcome.tally[1] > 0 ? outcome.tally : model.totals;
      return { ...outcome, tally, decidedBy, prediction: model.centre + model.unit * (tally[0] / tally[1]), shares: null };
    }
    const hasVotes = model.adds || outcome.tally.reduce((a, b) => a + b) > 0;
    const tally = hasVotes ? outcome.tally : model.totals;
    const best = tally.indexOf(tally.reduce((a, b) => Math.max(a, b)));
    return { ...outcome, tally, decidedBy, prediction: best, shares: shares(tally) };
  }

  return { satisfies, answer };
}

// From the values of the fields, one per column, to a row of features.
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

// Changes that lead to another prediction, the fewest and smallest first: for each column the nearest value that does, and
// for each rule that does not fire what it takes to make it fire.
function changes(model, answerer, values) {
  const now = answerer.answer(featuresOf(model.columns, values)).prediction;
  const options = model.columns.map((column, c) => candidates(model, column, values[c]));
  const found = new Map();

  function consider(steps) {
    const other = values.slice();
    for (const { column, value } of steps) other[column] = value;
    const { prediction } = answerer.answer(featuresOf(model.columns, other));
    if (prediction === now || prediction === null) return false;
    const key = steps.map(({ column }) => column).join(",");
    const length = steps.reduce((sum, { column, value }) => sum + distance(model.columns[column], values[column], value), 0);
    if (!found.has(key) || length < found.get(key).length) found.set(key, { steps, prediction, length });
    return true;
  }

  options.forEach((nearestFirst, column) => nearestFirst.some((value) => consider([{ column, value }])));
  for (const rule of model.rules) {
    const steps = stepsTo(model, answerer, rule, values, options);
    if (steps && steps.length > 1 && steps.length <= 3) consider(steps);
  }
  const sorted = [...found.values()].sort((a, b) => a.steps.length - b.steps.length || a.length - b.length);
  const within = (few, many) => few.steps.every((a) => many.steps.some((b) => a.column === b.column));
  return sorted.filter((each, k) => !sorted.slice(0, k).some((other) => within(other, each)));
}

// The values to change so that a rule fires; null where no known value will do.
function stepsTo(model, answerer, rule, values, options) {
  const steps = [];
  for (let c = 0; c < model.columns.length; c += 1) {
    const column = model.columns[c];
    const mine = rule.clauses.filter((clause) => column.features.includes(clause.feature));
    const holds = (value) => mine.every((clause) => answerer.satisfies(clause, featuresOf([column], [value])));
    if (holds(values[c])) continue;
    const value = options[c].find(holds);
    if (value === undefined) return null;
    steps.push({ column: c, value });
  }
  return steps;
}

function distance(column, from, to) {
  if (from === null || to === null || column.kind !== "number") return 1;
  return Math.abs(to - from) / column.scale;
}

// Values of a column on both sides of every bound, or all its categories, but not the one that it has; nearest first.
function candidates(model, column, current) {
  let found;
  if (column.kind === "number") {
    found = column.near.flatMap((bound) => [-1, 1].map((side) => shortNear(bound, column, side)));
    if (column.missing) found.push(null);
  } else {
    found = column.values;
  }
  const others = [...new Set(found)].filter((value) => value !== current);
  return others.sort((a, b) => distance(column, current, a) - distance(column, current, b));
}

// Days since 1970-01-01 as a date, with the time of the day where days are not whole; and the days of such a text.
const DAY = 86400;
function dateText(days, isWhole) {
  const date = new Date(1000 * Math.round(days * DAY));
  if (Number.isNaN(date.getTime())) return String(days);
  const text = date.toISOString().replace("T", " ");
  return isWhole && Number.isInteger(days) ? text.slice(0, -14) : text.slice(0, -5).replace(/(:\d\d):00$/, "$1");
}
function daysOf(text) {
  const found = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?))?$/.exec(text);
  return found ? Date.parse(`${found[1]}T${found[2] || "00:00"}Z`) / 1000 / DAY : NaN;
}

// The last second that is not above a number of days.
function secondUpTo(days) {
  let second = Math.floor(days * DAY);
  while ((second + 1) / DAY <= days) second += 1;
  while (second / DAY > days) second -= 1;
  return second;
}

// A short number that is not above a bound, or is a little above it; a whole one for a column of whole numbers.
function shortNear(bound, { scale, whole: isWhole, date: isDate }, side) {
  if (isWhole) return Math.floor(bound) + (side > 0 ? 1 : 0);
  if (isDate) return (secondUpTo(bound) + (side > 0 ? 1 : 0)) / DAY;
  for (let digits = 2 - Math.floor(Math.log10(scale)); digits <= 15; digits += 1) {
    const unit = 10 ** -Math.max(digits, -15);
    const whole = Math.floor(bound / unit) + (side > 0 ? 1 : 0);
    const number = Number((whole * unit).toPrecision(15));
    const fits = side > 0 ? number > bound : number <= bound;
    if (fits && Math.abs(number - bound) <= scale / 50) return number;
  }
  return side > 0 ? bound + Math.max(Math.abs(bound) * 2 ** -52, Number.MIN_VALUE) : bound;
}
