"""What every fitted model promises, as functions that raise where a promise is broken.

A promise compares with a plain loop, with the library, with the same model made in another way, or with an export that
is executed. `EVERY` are those that take a few milliseconds, `SOME` those of which each case draws one or two.
"""

from __future__ import annotations

import csv
import io
import math
import pickle
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

import exported
import node
import numpy as np
import test_export_mixed_tables as mixed_exports
from asking import (
    a_row_alone_is_answered_as_among_others,
    classes_under_other_labels_are_the_same_classes,
    columns_are_found_by_their_names,
    targets_and_weights_in_another_form_are_the_same,
)
from comparing import answers, assert_close, assert_same, has_evidence, is_exported
from copies import (
    a_checkpoint_changes_nothing,
    a_copy_is_the_same_model,
    a_fallback_can_be_changed_without_a_fit,
    more_calls_go_on_where_the_last_fit_ended,
)
from drawings import plots_can_be_drawn
from forms import a_table_in_blocks_is_the_same_rows, the_same_rows_in_another_form_are_the_same_rows
from hostile import html_structure
from page import Page
from parts import (
    a_score_is_that_of_scikit_learn,
    intervals_are_around_the_answer,
    queries_are_written_for_databases_elsewhere,
    rules_are_named_columns,
    some_of_the_rules_are_rules,
    stages_lead_to_the_answer,
)
from reused import (
    a_table_is_covered_where_it_is,
    a_threshold_does_what_is_asked_for,
    a_threshold_is_chosen_in_folds,
    fidelity_is_how_often_the_model_is_followed,
    rules_are_a_source_of_rules,
)
from sklearn.frozen import FrozenEstimator
from soak_cases import OURS, Case, Fitted
from strategies import brute_force
from test_every_estimator import added_up
from test_every_export import EXPORTS

from rulecover import RuleSet, RuleTransformer, Summary, certify, linear_rules, read_trees, write_report
from rulecover.data import encoder
from rulecover.data.frames import ZERO
from rulecover.estimators import fewer_trees, first_steps, in_time
from rulecover.exceptions import ExportError, UncoveredSamplesError
from rulecover.export import from_json, to_javascript, to_json, to_pmml
from rulecover.export.exported import vote_of
from rulecover.rules.rule import Clause
from rulecover.setcover import Certificate, Greedy, Status, verify
from rulecover.show.text import printable
from rulecover.voting.answers import Classes

Promise = Callable[[Fitted], None]

#: The most rules of a covering problem that is solved by trying every set of them.
_TRIED = 10
_TINY = 1e-6
#: Of all weights, none of which changes anything.
_FACTORS = (1e-6, 1e-3, 1 / 442, 1e6)
#: Models that may know which of their trees saw a row.
_BAGGED = ("forest", "one-hot pipeline", "bagging", "voting", "extra trees", "ordinal pipeline")


# By plain loops -------------------------------------------------------------------------------------------------


def satisfied(clause: Clause, value: float, *, zero_missing: bool) -> bool:
    if math.isnan(value) or (zero_missing and abs(value) <= ZERO):
        return clause.missing
    if clause.categories is not None:
        return (value in clause.categories.codes) != clause.categories.others
    return clause.lower < value <= clause.upper


def covered_by_loops(rules: RuleSet, X: Any) -> np.ndarray:
    """Which rule covers which row, clause by clause."""
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    zero = rules.columns.zero_missing
    return np.array(
        [
            [
                all(satisfied(c, float(row[c.feature]), zero_missing=c.feature in zero) for c in rule.clauses)
                for rule in replace(rules, shown=None)
            ]
            for row in rows
        ],
        dtype=bool,
    ).reshape(len(rows), len(rules))


def rules_cover_what_their_clauses_say(f: Fitted) -> None:
    rows = f.model._check_rows(f.data.asked)
    covered = f.model.apply(f.data.asked).toarray()
    np.testing.assert_array_equal(covered, covered_by_loops(f.model.rules_, rows))
    np.testing.assert_array_equal(f.model.missed(f.data.asked), ~covered.any(axis=1))


def answers_are_the_sums_of_the_votes(f: Fitted) -> None:
    """For the rows that some rule covers."""
    vote, covered = f.model.vote_, f.model.apply(f.data.asked).toarray()
    some = covered.any(axis=1)
    sums = covered[some] @ vote.votes + vote.base
    counted = vote.answer.weight(sums) > 0
    rows = np.flatnonzero(some)[counted]
    predicted = np.asarray(f.model.predict(f.data.asked))
    np.testing.assert_array_equal(predicted[rows], vote.answer.decided(sums[counted]))
    if isinstance(vote.answer, Classes):
        shares = f.model.predict_proba(f.data.asked)
        assert (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)
        np.testing.assert_allclose(shares[rows], vote.answer.probabilities(sums[counted]), rtol=1e-13)


def reasons_add_up_to_the_answer(f: Fitted) -> None:
    reasons = f.model.why(f.data.asked)
    np.testing.assert_array_equal(reasons["prediction"], f.model.predict(f.data.asked)[reasons["row"]])
    sums, asked = added_up(f.model, reasons)
    # Votes for numbers are rounded to some 50 bits of the sum of all: an error of 1e-14 of the largest.
    spread = 1e-5 * float(np.abs(f.case.y).max()) if f.case.target == "numbers" else 0.0
    assert_close(sums, answers(f.model, f.data.asked)[asked], spread=spread)


def evidence_is_what_the_training_rows_say(f: Fitted) -> None:
    """Shares of each class that a rule covers, or its mean; rows that were held out are not among them."""
    if f.case.settings.get("early_stopping") or not has_evidence(f):
        return
    weight = np.ones(len(f.case.y)) if f.case.weight is None else f.case.weight
    weight = weight / weight.sum()
    covered = f.model.apply(f.data.X).toarray().T * weight
    seen = f.model.rules_.evidence
    if f.case.target == "classes":
        of_class = f.case.y[:, None] == f.model.classes_
        np.testing.assert_allclose(seen.sums / seen.totals, (covered @ of_class) / (weight @ of_class), atol=1e-9)
    else:
        np.testing.assert_allclose(seen.support / seen.total, covered.sum(axis=1), atol=1e-9)
        large = covered.sum(axis=1) > _TINY
        # Sums are exact because numbers are rounded to some 50 bits of the sum of all.
        spread = float(np.abs(f.case.y).max())
        assert_close(seen.mean[large], ((covered @ f.case.y) / covered.sum(axis=1))[large], spread=spread)


def every_row_is_covered_or_listed(f: Fitted) -> None:
    demand = f.case.settings.get("demand", 1)
    if not hasattr(f.model, "uncovered_") or np.ndim(demand) or demand != 1:
        return
    counted = np.ones(len(f.case.y), dtype=bool) if f.case.weight is None else f.case.weight > 0
    missed = np.flatnonzero(f.model.missed(f.data.X) & counted)
    np.testing.assert_array_equal(f.model.uncovered_, missed)
    assert f.model.certificate_.n_uncovered + f.model.certificate_.n_left_out == len(missed)


def certificates_make_sense(f: Fitted) -> Certificate | None:
    certificate: Certificate | None = getattr(f.model, "certificate_", None)
    if certificate is not None:
        assert 0 < certificate.objective < np.inf
        assert certificate.status == Status.LIMITED or certificate.bound <= certificate.objective * (1 + _TINY)
    return certificate


def certificates_hold(f: Fitted) -> None:
    """No cover of the same problem costs less than the bound, by brute force where it is small."""
    certificate = certificates_make_sense(f)
    if certificate is None or not hasattr(f.model, "covering_problem") or getattr(f.model, "pruned_", False):
        return
    weights = {} if f.case.weight is None else {"sample_weight": f.case.weight}
    problem = f.model.covering_problem(f.data.X, f.data.y, **weights)
    greedy = verify(problem, Greedy()(problem))
    assert certificate.bound <= greedy.objective * (1 + _TINY)
    if problem.n_rules <= _TRIED:
        best = brute_force(problem)
        assert certificate.bound <= best * (1 + _TINY)
        assert certificate.status != Status.OPTIMAL or abs(certificate.objective - best) <= _TINY * best


def each_tree_sends_each_row_to_one_leaf(f: Fitted) -> None:
    """Rules of all leaves, next to the routes through the trees."""
    # Columns by name are for the estimators, and models of rules have no trees.
    if f.case.method in ("RCBoost", "few rules") or hasattr(f.data.asked, "columns") or f.case.source in OURS:
        return
    ensemble = read_trees(f.source if f.case.explains else f.model.estimator_)
    rows = ensemble.matrix(f.data.asked)
    prepared = ensemble.prepare(rows)
    covered = ensemble.rules().apply(rows).toarray()
    leaves = np.column_stack([route(prepared) for route in ensemble.routes])
    of = np.concatenate([np.full(len(tree.leaves), k) for k, tree in enumerate(ensemble.trees)])
    node = np.concatenate([tree.leaves for tree in ensemble.trees])
    np.testing.assert_array_equal(covered, leaves[:, of] == node)


# The same model in another form ---------------------------------------------------------------------------------


def first_rules_alone_are_a_model(f: Fitted) -> None:
    n_rules = len(f.model.rules_)
    left_out = getattr(f.model, "n_rules_", n_rules) > n_rules  # the sizes of a path count rules without votes, too
    for size in {1, n_rules} - {0}:
        if size <= n_rules:
            part = f.model.at(size)
            answers_are_the_sums_of_the_votes(replace(f, model=part))
            if not left_out:
                assert len(part.rules_) == size
                covered = f.model.apply(f.data.asked).toarray()[:, :size]
                np.testing.assert_array_equal(part.apply(f.data.asked).toarray(), covered)


def thresholds_move_the_answer(f: Fitted) -> None:
    if f.case.target != "classes" or len(f.model.classes_) != 2:
        return
    label, share = f.model.classes_[1], f.model.predict_proba(f.data.asked)[:, 1]
    for threshold in (0.2, 0.7):
        try:
            moved = f.model.at_threshold(threshold, label)
        except ValueError as error:
            assert "a threshold cannot be set" in str(error)
            return
        clear = np.abs(share - threshold) > _TINY
        np.testing.assert_array_equal((moved.predict(f.data.asked) == label)[clear], (share > threshold)[clear])


def a_pickle_is_the_same_model(f: Fitted) -> None:
    assert_same(f, pickle.loads(pickle.dumps(f.model)))


def json_goes_there_and_back(f: Fitted) -> None:
    if not is_exported(f):
        return
    text = to_json(f.model)
    loaded = from_json(text)
    assert to_json(loaded) == text
    if len(f.model.rules_):
        assert loaded.rules == f.model.rules_
    np.testing.assert_array_equal(loaded.predict(f.data.asked), f.model.predict(f.data.asked))
    if f.case.target == "classes":
        np.testing.assert_array_equal(loaded.predict_proba(f.data.asked), f.model.predict_proba(f.data.asked))


def text_goes_there_and_back(f: Fitted) -> None:
    rules = f.model.rules_
    by_hand = f.case.settings.get("keep") is not None  # which may compare truth values with numbers
    if by_hand or rules.columns.zero_missing or len(set(rules.feature_names)) < len(rules.feature_names):
        return
    known = {rules.feature_names[c]: labels for c, labels in rules.columns.categories.items()}
    again = RuleSet.from_text(rules.to_text(), rules.feature_names, categories=known, levels=rules.columns.levels)
    rows = f.model._check_rows(f.data.asked)
    np.testing.assert_array_equal(again.apply(rows).toarray(), rules.apply(rows).toarray())


def views_can_be_shown(f: Fitted) -> None:
    rules, vote = f.model.rules_, f.model.vote_
    for view in (rules, vote):
        for shown in (str(view), view.to_markdown(), view.to_latex(), *view.sentences()):
            assert isinstance(shown, str) and "\x1b" not in shown
    assert len(rules.to_frame()) == len(rules.sentences()) == len(rules)
    assert len(vote.to_frame()) - len(rules) in (0, 1), len(vote.to_frame())
    assert isinstance(repr(f.model), str) and str(f.model.why(f.data.asked))
    assert len(list(csv.reader(io.StringIO(rules.to_csv())))) == 1 + len(rules)
    pages = rules._repr_html_() + vote._repr_html_()
    if f.case.target == "classes" and has_evidence(f):
        groups = rules.by_class()
        assert sum(map(len, groups.sentences())) == len(rules)
        assert "\x1b" not in str(groups) + groups.to_markdown() + groups.to_latex()
        pages += groups._repr_html_()
    assert not [tag for tag in html_structure(pages) if tag[0] in ("script", "img", "b")]


def tables_are_counted_as_rules_cover_them(f: Fitted) -> None:
    if not (hasattr(f.data.asked, "columns") and is_exported(f)):
        return
    found = certify(f.model, f.data.asked)
    np.testing.assert_array_equal(found.support, f.model.apply(f.data.asked).toarray().sum(axis=0))


# The same model made in another way -----------------------------------------------------------------------------


def the_same_again_on_two_threads(f: Fitted) -> None:
    assert_same(f, f.again(replace(f.case, settings={**f.case.settings, "n_jobs": 2})))


def a_factor_of_all_weights_changes_nothing(f: Fitted) -> None:
    weight = np.ones(len(f.case.y)) if f.case.weight is None else f.case.weight
    factor = _FACTORS[f.case.seed % len(_FACTORS)]
    assert_same(f, f.again(replace(f.case, weight=weight * factor)))


def draws_no_rows(case: Case) -> bool:
    """Whether rows are neither drawn nor split: the model is there already, and rules are chosen on all rows."""
    settings = case.settings
    # What a forest says of its own training rows is what the trees say that did not see them, by the rows' places.
    in_bag = "path" in case.method and case.source in (*_BAGGED, *OURS) and settings.get("model_share") != 0
    return (
        case.explains
        and case.method != "explain boost"  # some of its settings take one of equal rows for all of them
        and not in_bag
        and settings.get("prune") != "held-out"
        and settings.get("choose", "last") == "last"
        and settings.get("within") is None
    )


def repeated_rows_are_weights(f: Fitted) -> None:
    if not (draws_no_rows(f.case) and is_greedy(f.case)):
        return
    rng = np.random.default_rng(f.case.seed)
    weight = rng.integers(1, 4, len(f.case.y))
    weight //= np.gcd.reduce(weight)  # a common factor means nothing, but repeats every row
    # Of columns that say the same, the trees may use another one than is required.
    settings = {name: value for name, value in f.case.settings.items() if name != "required"}
    plain = replace(f.case, weight=None, settings=settings)
    weighted = f.again(replace(plain, weight=weight.astype(float)))
    repeated = f.again(plain.take(np.repeat(np.arange(len(weight)), weight)))
    assert_same(replace(f, model=weighted), repeated, 1e-9)


def is_greedy(case: Case) -> bool:
    """Whether rules are taken one by one, and not searched for."""
    solver = case.settings.get("solver", "greedy")
    return solver in ("greedy", "forward") or isinstance(solver, Greedy)


def the_order_of_the_rows_does_not_matter(f: Fitted) -> None:
    if not draws_no_rows(f.case):
        return
    rows = np.random.default_rng(f.case.seed).permutation(len(f.case.y))
    assert_same(f, f.again(f.case.take(rows)), 1e-9)


# Shipped --------------------------------------------------------------------------------------------------------


def export_answers_as_the_model_does(name: str, f: Fitted) -> None:
    if f.case.is_mixed or not is_exported(f):
        return
    vote = vote_of(f.model)
    rows = exported.probes(vote.rules, np.random.default_rng(f.case.seed), 12)
    case = exported.Case(vote, vote, rows)
    assert case.agrees_with(EXPORTS[name][1](case))


def export_answers_on_the_columns_of_the_table(name: str, f: Fitted) -> None:
    if not f.case.is_mixed or not is_exported(f):
        return
    assert mixed_exports.RUNS[name](f.model, f.data.asked) == mixed_exports.answers_of(f.model, f.data.asked)


def a_report_is_written(f: Fitted) -> None:
    """With all rules, no tag that a name brought in, and nothing from elsewhere."""
    if not has_evidence(f):
        return
    summary = Summary.of(f.model, f.data.asked, f.data.truth, title="Soak <b>data</b>")
    with tempfile.TemporaryDirectory() as folder:
        text = write_report(summary, Path(folder) / "report.html").read_text(encoding="utf-8")
    page = Page(text)  # which closes every tag
    page.asks_for_nothing()
    assert "Soak <b>data</b>" in page.words and "<img src=x" not in text
    if page.scripts:
        assert len(page.model["rules"]) == len(f.model.rules_)
    assert all(" ".join(printable(name).split()) in page.words for name in used_names(f.model.rules_))


def used_names(rules: RuleSet) -> list[str]:
    """The names of the columns that some rule shows; days since 1970 are shown as dates, by the name of the column."""
    used = {clause.feature for rule in replace(rules, shown=None) for clause in rule.clauses}
    return [rules.feature_names[f].removesuffix(" (days since 1970-01-01)") for f in used]


def javascript_answers_as_the_model_does(f: Fitted) -> None:
    if f.case.is_mixed or not is_exported(f):
        return
    vote = vote_of(f.model)
    case = exported.Case(vote, vote, exported.probes(vote.rules, np.random.default_rng(f.case.seed), 12))
    if not np.isfinite(case.X[~np.isnan(case.X)]).all():  # which JSON does not have
        return
    with tempfile.TemporaryDirectory() as folder:
        (given,) = node.by_node(Path(folder), [(to_javascript(vote), node.known(case))])
    node.check(case, given)


def pmml_is_a_document_of_all_rules(f: Fitted) -> None:
    """Java evaluates such documents in the tests of the system; here they are read."""
    if not is_exported(f):
        return
    try:
        text = to_pmml(f.model)
    except ExportError as error:
        assert re.search("negative votes|no XML file can hold|XML cannot hold|PMML", str(error)), error
        return
    tags = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()]
    assert tags.count("Header") == 1 and "DataField" in tags


# As columns -----------------------------------------------------------------------------------------------------


def rules_are_columns(f: Fitted) -> None:
    covered = f.model.apply(f.data.asked)
    for sparse in (False, True):
        columns = RuleTransformer(FrozenEstimator(f.model), sparse_output=sparse).fit(f.data.X, f.data.y)
        made = columns.transform(f.data.asked)
        np.testing.assert_array_equal(made.toarray() if sparse else made, covered.toarray())
        assert columns.get_feature_names_out().tolist() == [rule.text for rule in f.model.rules_]


def rules_weigh_in_a_linear_model(f: Fitted) -> None:
    if not len(f.model.rules_):
        return
    weight = {} if f.case.weight is None else {"sample_weight": f.case.weight}
    settings = {"C": (0.05, 1.0, 20.0)[f.case.seed % 3], "time_limit": (None, 1000.0)[f.case.seed % 2]}
    model = linear_rules(f.model, f.data.X, f.data.y, **settings, **weight)
    columns, linear = f.model.apply(f.data.asked).astype(float), model[-1]
    if f.case.target == "numbers":
        assert_close(model.predict(f.data.asked), columns @ linear.coef_ + linear.intercept_)
    else:
        shares = model.predict_proba(f.data.asked)
        assert set(model.classes_.tolist()) == set(np.unique(f.case.y).tolist())
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)


#: Seconds that cut nearly everything, or some of it.
_LIMITS = (1e-3, 0.02, 0.1)


# Limits ---------------------------------------------------------------------------------------------------------


def what_is_cut_short_is_a_model(f: Fitted) -> None:
    """A time limit of next to nothing leaves the best so far, of a model that is trained on some of the rows."""
    # A required column may be in the trees that there is no time to read.
    settings = {name: value for name, value in f.case.settings.items() if name != "required"}
    limit = _LIMITS[f.case.seed % len(_LIMITS)]
    try:
        with next_to_no_time(f.case.seed):
            cut = replace(f, model=f.again(replace(f.case, settings={**settings, "time_limit": limit})))
    except UncoveredSamplesError:  # of a path that there was no time to begin nothing can be covered
        assert f.case.source in OURS
        return
    rules_cover_what_their_clauses_say(cut)
    answers_are_the_sums_of_the_votes(cut)
    reasons_add_up_to_the_answer(cut)
    evidence_is_what_the_training_rows_say(cut)  # of all rows, whatever the model was trained on
    every_row_is_covered_or_listed(cut)
    certificates_make_sense(cut)  # a bound is one for the trees that were read
    each_tree_sends_each_row_to_one_leaf(cut)
    first_rules_alone_are_a_model(cut)
    a_pickle_is_the_same_model(cut)
    json_goes_there_and_back(cut)
    assert getattr(cut.model, "time_limit", limit) == limit


@contextmanager
def next_to_no_time(seed: int) -> Iterator[None]:
    """Limits that are felt by cases of fewer than 1,000 rows: models are trained on ten of them first.

    Of some seeds trees, votes and steps of a path do not have the time that they have in any case, and encoded rows are
    made a few at a time.
    """
    settings: dict[str, Any] = {"_FIRST": 10, "_FEWEST": 1}
    settings |= {"_VOTES": 0.0, "_FEW_VOTES": 0.0} if seed % 5 == 0 else {}
    settings |= {"_RESPONSES": 1.0} if seed % 7 == 0 else {}
    with ExitStack() as patched:
        patched.enter_context(patch.multiple(in_time, **settings))
        patched.enter_context(patch.object(first_steps, "_FEW", 5))
        if seed % 2 == 0:
            patched.enter_context(patch.object(fewer_trees, "_AT_LEAST", 0.0))
        if seed % 3 == 0:
            patched.enter_context(patch.multiple(encoder, _WIDE=2, _VALUES=100))
        yield


EVERY: dict[str, Promise] = {
    promise.__name__: promise
    for promise in (
        rules_cover_what_their_clauses_say,
        answers_are_the_sums_of_the_votes,
        reasons_add_up_to_the_answer,
        evidence_is_what_the_training_rows_say,
        every_row_is_covered_or_listed,
        certificates_hold,
        each_tree_sends_each_row_to_one_leaf,
        first_rules_alone_are_a_model,
        thresholds_move_the_answer,
        a_pickle_is_the_same_model,
        json_goes_there_and_back,
        text_goes_there_and_back,
        columns_are_found_by_their_names,
        stages_lead_to_the_answer,
        intervals_are_around_the_answer,
        a_score_is_that_of_scikit_learn,
        some_of_the_rules_are_rules,
    )
}
SOME: dict[str, Promise] = {
    promise.__name__: promise
    for promise in (
        views_can_be_shown,
        tables_are_counted_as_rules_cover_them,
        the_same_again_on_two_threads,
        a_factor_of_all_weights_changes_nothing,
        repeated_rows_are_weights,
        the_order_of_the_rows_does_not_matter,
        a_report_is_written,
        plots_can_be_drawn,
        a_row_alone_is_answered_as_among_others,
        targets_and_weights_in_another_form_are_the_same,
        classes_under_other_labels_are_the_same_classes,
        a_copy_is_the_same_model,
        a_fallback_can_be_changed_without_a_fit,
        more_calls_go_on_where_the_last_fit_ended,
        queries_are_written_for_databases_elsewhere,
        rules_are_named_columns,
        rules_are_columns,
        rules_weigh_in_a_linear_model,
        the_same_rows_in_another_form_are_the_same_rows,
        a_table_in_blocks_is_the_same_rows,
        rules_are_a_source_of_rules,
        fidelity_is_how_often_the_model_is_followed,
        a_threshold_does_what_is_asked_for,
        a_threshold_is_chosen_in_folds,
        a_table_is_covered_where_it_is,
        a_checkpoint_changes_nothing,
        what_is_cut_short_is_a_model,
        pmml_is_a_document_of_all_rules,
        *([javascript_answers_as_the_model_does] if shutil.which("node") else []),
    )
} | {f"export: {name}": partial(export_answers_as_the_model_does, name) for name in EXPORTS}
OF_TABLES: dict[str, Promise] = {
    f"table: {name}": partial(export_answers_on_the_columns_of_the_table, name)
    for name in mixed_exports.RUNS
    if name != "duckdb"  # its table is one with given columns
}
PROMISES: dict[str, Promise] = EVERY | SOME | OF_TABLES
