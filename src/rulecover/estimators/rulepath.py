"""Rule paths as scikit-learn estimators: the whole trade-off between few rules and accuracy, from one model."""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from rulecover.clock import TimeLimits, cut_in_words, is_late, late, training_deadline
from rulecover.data.columns import Columns
from rulecover.estimators.asked import OutOfBagModel, has_out_of_bag
from rulecover.estimators.base import VotingModel
from rulecover.estimators.binned import BinnedTrees
from rulecover.estimators.booster import check_trains_again
from rulecover.estimators.checks import (
    check_model_fits,
    check_time_and_checkpoint,
    one_of,
    real_number,
    whole_number,
)
from rulecover.estimators.door import rules_on
from rulecover.estimators.in_time import check_soon_asked, in_time, rows_to_follow, some_of, trees_to_follow
from rulecover.estimators.other_target import inner_model, knows_all_classes
from rulecover.estimators.path_elsewhere import fit_path_elsewhere
from rulecover.estimators.path_folds import held_out_scores
from rulecover.estimators.path_kinds import CLASS_PATHS, NUMBER_PATHS, POOLS, SHARE, PathKind, SizeChoice
from rulecover.estimators.places import rows_elsewhere
from rulecover.estimators.predicts import PredictsClasses
from rulecover.estimators.prepare import Preparation, Prepared, RuleModel, Source, forget_table
from rulecover.estimators.scoring import checked_scoring
from rulecover.exceptions import CutShortWarning, RulecoverWarning, UnreadableModelError
from rulecover.rulepath.candidates import Candidates, node_candidates, rule_candidates, usual_depth
from rulecover.rulepath.constraints import Constraints, column_numbers
from rulecover.rulepath.family import RowPredictions
from rulecover.rulepath.folds import PathData
from rulecover.rulepath.path import GAINS, PATH_VOTES, PathRecipe, PathVotes, ended_in_words, rule_path
from rulecover.rulepath.response import softened_response
from rulecover.rulepath.sizes import BY_SCORE, chosen_size, size_scores, size_table
from rulecover.rulepath.squares import Terms, usual_shrinkage
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.numbers.target import NumberTarget
from rulecover.targets.samples import Samples
from rulecover.typing import Floats, Ints
from rulecover.voting.fallback import Default

#: How deep candidates on binned columns lie.
_BINNED_DEPTH = 3

#: How folds were made in which no model was trained.
_KEPT = " (rules were chosen and weighed again in each fold, among those of the same model)"

#: How a size is chosen; "last" needs no scores.
CHOICES = (*BY_SCORE, "last")


#: The model is scored on the training rows unless a fit is late by more than this many seconds.
_TO_SCORE = 1.0


def _rules_of(source: Source) -> RuleSet:
    """The rules of a source that has no trees."""
    rules: RuleSet = source.model if isinstance(source.model, RuleSet) else source.model.rules_
    return rules


def _is_unknown(prepared: Prepared) -> bool:
    """Whether it is not known which rows the model drew: it is one of ours, and was cut short."""
    return bool(prepared.cut) and prepared.trained_on is None and isinstance(prepared.source.model, RuleModel)


@dataclass(eq=False, repr=False, kw_only=True)
class RulePath(VotingModel):
    """Follows the path, chooses a size, and predicts by added votes."""

    _kind: ClassVar[PathKind]

    estimator: Any = field(default=None, kw_only=False)
    pool: str | None = None
    n_bins: int | None = None
    max_rules: int = 50
    choose: str | None = None
    within: float | None = None
    scoring: Any = None
    cv: Any = 5
    train_in_folds: bool = True
    max_depth: int | None = None
    min_samples: int = 2
    model_share: float | None = None
    ridge: float | None = None
    shrinkage: float | None = None
    tries: int = 5
    max_clauses: int | None = None
    forbidden: Iterable[int | str] | None = None
    required: Iterable[int | str] | None = None
    monotone: Mapping[int | str, int] | None = None
    keep: RuleSet | None = None
    time_limit: float | None = None
    checkpoint: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    # Settings for classes, which are fixed for numbers, and one for covers.
    vote: str = field(init=False, default="fitted")
    gain: str | None = field(init=False, default=None)
    fallback: Any = field(init=False, default=Default())

    # Fitting ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Trains the estimator unless it is frozen, follows the path, and takes the size that was asked for.

        Parameters
        ----------
        X
            Rows x columns: an array, a data frame or a sparse matrix. Or a table of `rulecover.open_table`, larger than
            memory, which has y and the weights in it; its size is chosen on a sample of the rows. Or a Dask array or
            frame, whose rows stay on the workers, but for such a sample.
        y
            What is to be predicted, one value per row.
        sample_weight
            What each row counts; rows of weight zero do not count at all.
        groups
            The group of each row, such as a patient: rows of the same group are in the same fold.

        Returns
        -------
        RulePath
            Itself.

        Raises
        ------
        ValueError
            If a setting is out of its range, or X, y or the weights do not fit together.
        UnreadableModelError
            If the estimator is of a type that no reader knows.
        """
        forget_table(self)
        self._check_settings()
        begin = time.perf_counter()
        rows = rows_elsewhere(X, y, sample_weight)
        if rows is not None:
            cut = fit_path_elsewhere(self, rows, groups, begin)
            self.size_reason_ += self._noted(cut)
            return self
        # Boosted trees of ours keep to one thread: many would wait for each other longer than they work.
        with nullcontext() if self.estimator is not None else threadpool_limits(1, "openmp"):
            # A checkpoint is of candidates and a response, which must not depend on the clock.
            until = training_deadline(begin, self.time_limit) if self.checkpoint is None else None
            prepared = self._prepare(X, y, sample_weight, deadline=until)
            limits = TimeLimits.of(self.time_limit, shared=not self._takes_all(), begin=begin)
            cut = self._choose_size((X, y, sample_weight), groups, prepared, limits)
        self._warn_of_kept()
        self.size_reason_ += self._noted(cut)
        return self._finished(self.vote_, prepared.samples)

    def _choose_size(
        self, given: tuple[Any, Any, Any], groups: Any, prepared: Prepared, limits: TimeLimits
    ) -> list[str]:
        """Follows the path, and takes the size that was asked for; returns what there was no time for, in words."""
        X = given[0]
        data = self._follow(X, prepared, limits.path)
        samples = data.samples
        choice = self._choice(samples)
        cut = [prepared.cut, self._cut_reading(prepared, data), self._cut_path(limits.path), data.cut]
        held_out, no_time = (
            (None, "")
            if self._takes_all()
            else held_out_scores(self, given, groups, scoring=choice.scoring, of=data, limits=limits)
        )
        model, not_scored = self._fitted_predictions(X, samples, data.places, limits.end)
        training = size_scores(self._family, samples, model)
        self.path_: pd.DataFrame = size_table(self._family, samples, training, held_out, choice.name)
        self.model_score_ = np.nan if held_out is None else float(held_out.model.mean())
        by = choice.name or self._kind.score
        size, reason = chosen_size(self._family, held_out, choice.choose, self.within, by)
        kept = held_out is not None and not self.train_in_folds
        self._take(size)
        self.size_reason_ = reason + self._left_out() + (_KEPT if kept else "")
        return [*cut, not_scored, no_time]

    @staticmethod
    def _cut_reading(prepared: Prepared, data: PathData) -> str:
        """How many trees, or rules that were there already, there was time to read, in words."""
        trees, n_read = prepared.source.trees, data.candidates.cells.shape[1]
        if trees is not None:
            return cut_in_words(n_read, len(trees.trees), "trees were read")
        return cut_in_words(n_read, len(_rules_of(prepared.source)), "rules were read")

    def _cut_path(self, deadline: float | None) -> str:
        """Where the path ended because time was up, in words."""
        largest = self._family.largest
        return ended_in_words(largest, self.max_rules) if is_late(deadline) and largest < self.max_rules else ""

    def _noted(self, cut: list[str]) -> str:
        """What the time limit has cut, if anything, as the end of a sentence; a warning says it too."""
        if not any(cut):
            return ""
        said = f"time_limit is {self.time_limit:g} s: {' and '.join(filter(None, cut))}"
        warnings.warn(f"{said}; give more time, or fewer rules or folds.", CutShortWarning, stacklevel=3)
        return f" ({said})"

    def at(self, n_rules: int) -> Self:
        """The model of another size from the same path; nothing is fitted.

        Parameters
        ----------
        n_rules
            From 0, the default vote alone, to the size of the largest set.

        Returns
        -------
        RulePath
            A copy; this model stays as it is.

        Raises
        ------
        ValueError
            If the path ends before.
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        """
        check_is_fitted(self)
        if whole_number("n_rules", n_rules, at_least=0) > self._family.largest:
            raise ValueError(
                f"n_rules is {n_rules}, but the path ends at {self._family.largest} rules; "
                "fit with a larger max_rules, or take fewer."
            )
        other = copy(self)
        other._take(n_rules)
        return other

    def _take(self, size: int) -> None:
        self.n_rules_ = int(size)
        self.vote_ = self._family.vote(self.n_rules_)
        self.rules_: RuleSet = self.vote_.rules

    def _warn_of_kept(self) -> None:
        """Warns of rules that were to be kept and are not, since they cover no row."""
        for text in self._family.without_rows(0 if self.keep is None else len(self.keep)):
            warnings.warn(
                f"{text!r} is to be kept, but covers no training row, so that it has no vote; it is left out.",
                RulecoverWarning,
                stacklevel=3,
            )

    def _left_out(self) -> str:
        """What to say of rules that were left out because of their votes."""
        n = self.n_rules_ - len(self.rules_)
        said = "one of them, whose vote is next to nothing, is" if n == 1 else f"{n} of them, of next to no vote, are"
        return f"; {said} left out" if n else ""

    def _check_settings(self) -> None:
        for name, least in (("max_rules", 1), ("min_samples", 1), ("tries", 0)):
            whole_number(name, getattr(self, name), at_least=least)
        for name, least in (("max_depth", 1), ("max_clauses", 1), ("n_bins", 2)):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), at_least=least)
        for name, above in (("ridge", True), ("shrinkage", False), ("within", False)):
            if getattr(self, name) is not None:
                real_number(name, getattr(self, name), above=above)
        if self.model_share is not None and real_number("model_share", self.model_share) > 1:
            raise ValueError(f"model_share is {self.model_share}; it must be at most 1.")
        if self.keep is not None and not isinstance(self.keep, RuleSet):
            raise TypeError(f"keep is {self.keep!r}; give a RuleSet, such as RuleSet.of_intervals makes.")
        check_time_and_checkpoint(self)
        self._check_pool()
        self._check_choice()
        self._check_votes()

    def _check_pool(self) -> None:
        if self.pool not in (None, *POOLS):
            raise ValueError(f"pool is {self.pool!r}; give one of {', '.join(map(repr, POOLS))}.")
        if self.pool is not None and self.estimator is not None:
            raise ValueError(f"pool is {self.pool!r}, but an estimator is given; leave one of them out.")
        if self.n_bins is not None and self.estimator is not None:
            raise ValueError(f"n_bins is {self.n_bins}, but an estimator is given; leave one of them out.")

    def _check_choice(self) -> None:
        if isinstance(self.cv, numbers.Integral):
            whole_number("cv", self.cv, at_least=2)
        if self.scoring is not None:
            checked_scoring(self.scoring)
        if self.choose not in (None, *CHOICES):
            raise ValueError(f"choose is {self.choose!r}; give one of {', '.join(map(repr, CHOICES))}.")
        if not self._takes_all() and self.train_in_folds:
            way_out = "give train_in_folds=False, or choose='last', and take another size by at(n_rules)"
            check_trains_again(self.estimator, "a size is chosen in folds", way_out)

    def _check_votes(self) -> None:
        one_of("vote", self.vote, PATH_VOTES)
        one_of("gain", self.gain, (None, *GAINS))
        by_accuracy = self.scoring is None and self._kind.score == "accuracy"
        if by_accuracy and self.within is not None and self.within >= 1:
            raise ValueError(
                f"within is {self.within:g}; it is a difference of accuracies, which are between 0 and 1: give a "
                "number below 1, such as 0.01."
            )
        if (self.vote, self.gain) == ("fitted", "log-loss"):
            raise ValueError("gain is 'log-loss', which needs vote='log-odds', but vote is 'fitted'; change one.")

    def _follow(self, X: Any, prepared: Prepared, deadline: float | None) -> PathData:
        """Follows the path to its end, or as far as there is time, and returns what it was made from."""
        # A checkpoint is of candidates and a response, which must not depend on the clock.
        until = deadline if self.checkpoint is None else None
        begin = time.perf_counter()
        everything, n_classes = prepared.samples, len(self._target.of(prepared.samples).classes)
        source = prepared.source
        # Each rule that is there already is as much to read as a tree.
        n_trees = len(_rules_of(source)) if source.trees is None else len(source.trees.trees)
        n_outputs = n_classes if n_classes > 2 else 1
        some = rows_to_follow(everything, n_outputs, n_trees, until)
        prepared = prepared if some is None else prepared.among(some)
        prepared = prepared.of_first(trees_to_follow(len(prepared.rows), n_outputs, n_trees, until))
        samples = prepared.samples
        # Of rules that are there already, most of the work is to come once they are applied.
        read_by = None if until is None else begin + (until - begin) * (0.5 if source.trees is not None else 0.2)
        candidates = self._candidates(prepared, read_by)
        # To ask all trees what they predict takes as long as to read them, roughly.
        asking = (time.perf_counter() - begin) * n_trees / max(1, candidates.cells.shape[1])
        asks = knows_all_classes(self.estimator_) and not is_late(until, asking)
        share = self._share(X) if asks else 0.0
        share = share if share == 0 or self._is_soon_asked(X, prepared, until) else 0.0
        target = self._target.of(samples)
        honest = self._honest_model(X, prepared) if share != 0 else None
        calibrate = len(target.classes) > 1 and isinstance(honest, OutOfBagModel) and has_out_of_bag(self.estimator_)
        response = softened_response(samples, target, honest, share, calibrate=calibrate, deadline=until)
        recipe = replace(self._recipe(candidates, samples, response.noise), deadline=deadline)
        self._family = rule_path(samples, candidates, response.values, recipe)
        if some is not None:
            self._family = self._family.counted_on(everything)
        self.n_candidate_rules_ = self._family.n_candidates
        self._take(self._family.largest)
        cut = [] if some is None else [f"rules were chosen on {len(some):,} of {len(everything.y):,} rows"]
        cut += [] if share == self._share(X) else ["rules were chosen by the labels alone"]
        return PathData(
            samples,
            prepared.rows,
            candidates,
            response,
            " and ".join(cut),
            drawn_from=None if _is_unknown(prepared) else prepared.drawn_from,
            all_trained=not prepared.cut,
        )

    def _is_soon_asked(self, X: Any, prepared: Prepared, deadline: float | None) -> bool:
        """Whether there is time to ask the model what it predicts for all samples."""

        def ask(some: Ints) -> Floats:
            few = prepared.among(some)
            return self._target.of(few.samples).predicted_responses(self._honest_model(X, few), few.samples.X)

        try:
            check_soon_asked(ask, np.arange(len(prepared.rows)), deadline)
        except TimeoutError:
            return False
        return True

    def _honest_model(self, X: Any, prepared: Prepared) -> Any:
        """The model, out of bag where it is known which rows it drew."""
        model = self._model(X, prepared.rows)
        return model if _is_unknown(prepared) else OutOfBagModel(model, prepared.drawn_from)

    def _fitted_predictions(
        self, X: Any, samples: Samples, places: Ints, end: float | None
    ) -> tuple[RowPredictions | None, str]:
        """What the model predicts for samples, at these places of X, and whether there was no time for it, in words.

        ``None`` if it cannot be asked, or not soon after the end of all time.
        """
        if isinstance(self.estimator_, RuleSet):
            return None, ""

        def ask(some: Ints) -> RowPredictions:
            return RowPredictions(self._source_model(X, places[some]).predict(some_of(samples.X, some)))

        try:
            return in_time(ask, np.arange(len(places)), late(end, _TO_SCORE)), ""
        except UnreadableModelError:
            return None, ""
        except TimeoutError:
            return None, "the model itself was not scored on the training rows"

    def _candidates(self, prepared: Prepared, deadline: float | None = None) -> Candidates:
        """The nodes of the model's trees, or the rules of a model of rules."""
        samples, source, least = prepared.samples, prepared.source, self.min_samples
        if source.trees is None:
            return rule_candidates(_rules_of(source), samples.X, samples.weight, min_samples=least, deadline=deadline)
        names = check_model_fits(source.trees, samples.X, self._names())
        depth = self.max_depth or self._usual_depth(samples)
        return node_candidates(
            source.trees,
            samples.X,
            samples.weight,
            names,
            max_depth=depth,
            min_samples=least,
            deadline=deadline,
            n_jobs=self.n_jobs,
        )

    def _usual_depth(self, samples: Samples) -> int:
        model = inner_model(self.estimator_)
        if isinstance(model[-1] if isinstance(model, Pipeline) else model, BinnedTrees):
            return _BINNED_DEPTH
        return usual_depth(samples.count.sum(), len(self._target.of(samples).classes))

    def _recipe(
        self, candidates: Candidates, samples: Samples, noise: float | None, total: float | None = None
    ) -> PathRecipe:
        """The recipe of a path through candidates; `total` is the weight of all rows, if there are more than these."""
        columns, target, votes = candidates.source.columns, self._target.of(samples), self._votes()
        constraints = Constraints.of(
            columns.names,
            forbidden=self.forbidden,
            required=self.required,
            monotone=self.monotone,
            max_clauses=self.max_clauses,
            parts=columns.parts,
        )
        constraints.check_outputs(len(target.classes))
        keep = None if self.keep is None else self._kept(self.keep, columns)
        if keep is not None:
            constraints.check_given(keep, self.max_rules)
        total = candidates.total if total is None else total
        shrinkage = usual_shrinkage(total) if self.shrinkage is None else self.shrinkage
        return PathRecipe(
            self.max_rules,
            Terms(votes.ridge_of_choice(samples, noise), shrinkage, self.tries),
            constraints,
            target,
            votes.steps(samples, target, noise),
            given=None if keep is None else _on(columns, keep),
            verbose=self.verbose,
        )

    def _kept(self, keep: RuleSet, columns: Columns) -> RuleSet:
        """The rules to keep on all columns: those that are given, and those that are made of dates."""
        return rules_on(keep, columns.names, len(columns)) if columns.parts else keep

    def _share(self, X: Any = None) -> float | None:
        """The share of the model's predictions in the target, `None` if it depends on how noisy the target is."""
        if self.model_share is not None:
            return self.model_share
        boosted = self.estimator is None and self._pool_on(X) != "forest"
        return self._kind.share_of_boosted if boosted else SHARE

    def _votes(self) -> PathVotes:
        return PathVotes(self.vote, self.gain, self.ridge)

    def _pool_on(self, X: Any) -> str | None:
        """The pool that was asked for, and a forest on sparse rows, which boosted trees take in bins alone."""
        if not issparse(X) or self.n_bins is not None:
            return self.pool
        if self.pool not in (None, "forest"):
            raise ValueError(
                f"pool is {self.pool!r}, but X is sparse, which boosted trees do not take; give pool='forest', "
                "X.toarray(), or n_bins, such as 10."
            )
        return "forest"

    def _source(self, X: Any, y: Any) -> Any:
        if isinstance(self.estimator, RuleSet) and self._share() != 0:
            raise UnreadableModelError(
                "a path is chosen by what a model predicts, and rules made by hand have no model behind them; "
                "give model_share=0, or a model, and the rules as keep."
            )
        if self.estimator is not None:
            return super()._source(X, y)
        pool = self._kind.pool(self._pool_on(X), y, self.n_jobs)
        return pool if self.n_bins is None else BinnedTrees(pool, self.n_bins)

    def _preparation(self) -> Preparation:
        """As usual; the estimator is trained without the columns that no rule may use, so that its nodes do not."""
        kept = None if self.keep is None else self.keep.clauses.columns
        usual = replace(super()._preparation(), kept=kept)
        if self.forbidden is None:
            return usual
        names = usual.names or tuple(f"x{f}" for f in range(self.n_features_in_))
        hidden = column_numbers("forbidden", self.forbidden, names)
        if len(hidden) == len(names):
            raise ValueError("forbidden names every column, so that there is nothing to make rules of; allow one.")
        return replace(usual, hidden=hidden)

    # Choosing a size --------------------------------------------------------------------------------------------

    def _choice(self, samples: Samples) -> SizeChoice:
        """How a size is chosen, and by which scoring."""
        if self.scoring is not None:
            name = self.scoring if isinstance(self.scoring, str) else "scoring"
            return SizeChoice(self.choose or "one-se", self.scoring, name)
        usual = SizeChoice("one-se", None, None) if self.within is not None else self._kind.choice(samples)
        return usual._replace(choose=self.choose or usual.choose)

    def _takes_all(self) -> bool:
        return self.within is None and self.choose == "last"

    def _move(self, place: int, threshold: float) -> None:
        self._family = self._family.at_threshold(place, threshold)
        self._take(self.n_rules_)

    def plot_path(self, ax: Any = None) -> Any:
        """The score of every size as a curve, next to the model's score, with the size that was taken.

        Parameters
        ----------
        ax
            Where to draw; a new figure by default. Needs matplotlib, which the extra ``plot`` brings.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from rulecover.plot import path

        check_is_fitted(self)
        return path(self, ax=ax)


def _on(columns: Columns, keep: RuleSet) -> RuleSet:
    """Rules to keep in the codes of the data, with all that is known of its columns, such as dates, but their names."""
    mine = keep.columns
    known = replace(columns, names=mine.names, levels=columns.levels or mine.levels)
    return replace(keep.in_codes_of(columns), columns=known)


@dataclass(eq=False, repr=False, kw_only=True)
class RulePathClassifier(PredictsClasses, RulePath):
    """Rule sets of every size from one forest, from a few rules to as many as it takes to predict like the forest.

    Every node of every tree is a rule to choose from, inner nodes too. Rules enter one after another, each time the
    one that explains most of what is left; after each, the votes of all rules are fitted again. So one run gives a
    nested family of rule sets, and cross-validation says which size to take. Votes are log-odds that add up: every row
    starts with the default vote, and each rule that covers it adds its own.

    Parameters
    ----------
    estimator
        The forest, any tree ensemble that `rulecover.read_trees` can read, or a model of rules such as
        `MIRCOClassifier` or `RCBoostClassifier`, whose rules are then chosen from; it is cloned and trained on the
        data. A model that is trained already is taken as it is inside scikit-learn's ``FrozenEstimator``; the folds
        of the cross-validation train copies of it. By default what `pool` says, with a linear trend in the predictions
        of the forest, where that predicts better.
    pool
        What candidates come from where no estimator is given: "forest", a random forest of 100 trees; "boosted", about
        100 shallow boosted trees; "both". By default the forest for two classes, and both for more and where one of two
        has less than 5 % of the rows. Where X is sparse, which boosted trees do not take, the default is the forest
        unless `n_bins` is given.
    n_bins
        Where no estimator is given: cut every column into at most this many bins of about as many training rows each,
        such as 10, at round numbers, and train on the bins. These numbers are then the bounds of the rules, which are
        shorter and more often the same on other rows. By default columns are not cut.
    max_rules
        The size of the largest set.
    choose
        Which size to take: "one-se", the smallest that is at most one standard error of the difference in each fold
        worse than the best; "best", the best; "last", the largest, without cross-validation. By default "one-se", and
        "best" where one of two classes is rare.
    within
        In place of `choose`: take the smallest set whose score is very likely at most this far below the model's on new
        rows, such as 0.01: the upper end of a 90 % interval for the difference, which allows for folds that share most
        of their rows, is at most this, for this set and for the next four. If there is none, the best set is
        taken, with a warning.
    scoring
        The score by which a size is chosen: a name that scikit-learn knows, such as "neg_log_loss", "roc_auc" or
        "average_precision", or a function of a model, X and y. By default "neg_brier_score", "neg_log_loss" if
        the rarer of two classes has a share below 5 %, and with `within` the accuracy.
    cv
        Folds of the cross-validation: a number, whose rows are drawn by `random_state` with equal shares of the
        classes, or as scikit-learn takes it. The estimator is trained in each.
    train_in_folds
        Whether the estimator is trained again in each fold. If not, its trees stay as they are, and only the choice of
        rules and their votes are made again: quick, and possible for boosters and model files, but trees that were
        trained on all rows make large sets look a little better than they are.
    max_depth
        How deep the nodes may lie: the most comparisons in a rule. By default 8, and with fewer than 2,000 rows 4
        for two classes and 6 for nine or more; 3 with `n_bins`.
    min_samples
        The fewest training rows that a rule may cover.
    model_share
        The share of the model's predictions in the target; the rest are the labels. Between 0 and 1, by default 0.5.
        The predictions of a forest are out of bag: for each row those of the trees that were not trained on it; they
        are calibrated by one exponent.
    ridge
        The penalty on the squares of the votes: higher means smaller votes. By default 5 for fitted ones; for log-odds
        from 0.25, where the forest predicts classes of rows outside its bags well, to 4, where it cannot.
    shrinkage
        When rules compete, each is judged as if it covered this many more rows: higher means larger rules first. By
        default a twentieth of the rows, at most 50.
    tries
        How many of the best nodes are shortened at each step, by dropping clauses that do not help, before one is
        taken; 0 takes nodes as they are.
    max_clauses
        The most clauses of a rule, a clause being one feature's interval.
    forbidden
        Columns, by number or name, that no rule may use; the estimator is trained without them unless it is frozen.
    required
        Columns each of which some rule must use; no smaller set is taken. Of dates any part will do.
    monotone
        For columns, by number or name, 1 if the prediction (the votes for the second of two classes) must not fall as
        the value grows, or -1 if it must not rise. For dates: as time passes; rules then use no month and no weekday.
    keep
        Rules that stay in, whatever they gain: they come first in every set, with fitted votes. One that covers no
        training row has no vote, and is left out with a warning.
    vote
        What the votes add up to: "log-odds", whose probabilities are never 0 or 1, or shares of the classes, "fitted"
        by least squares.
    gain
        By what the next rule is chosen: "squares", what it explains of the squared error, or "log-loss", what it gains
        in the logistic loss, which takes longer. By default squares for two classes, and log-loss for more and where
        one of two has less than 5 % of the weight.
    class_weight
        As in scikit-learn: ``None``, "balanced" or a dictionary; multiplies the sample weights.
    time_limit
        Seconds for the whole fit. If half of them are too few to train the model on all rows, it is trained on a sample
        of them. Half of what is left is for the path, the rest for the folds, in which models are trained again. A path
        that is cut has fewer sizes, and a size is chosen by the folds that are done, or is the largest; `size_reason_`
        and a `CutShortWarning` say so. Trees that are not read in half of the time for the path are left out, and the
        model is not asked where it would take too long. Of rows that are not in memory a sample has half of the time,
        on which the size is chosen; a pass over the rows is not cut.
    checkpoint
        A file, such as "path.npz", in which the scores in folds are kept as they are made, so that a fit that was
        killed or cut short does not make them again when it is run again on the same data with the same settings; the
        model is the same as without a break. The file is removed at the end. It needs a whole number as `random_state`.
    random_state
        Seed of the default pool, of an estimator without a seed of its own, and of the folds, which are the same
        from fit to fit without one.
    n_jobs
        Threads that read the trees, and train the default forest. The rules do not depend on it.
    verbose
        Above 0 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleSet
        The rules of the size that was taken, in the order in which they entered.
    vote_ : Vote
        The rules, what each adds for each class, and the default vote; prints as a table.
    n_rules_ : int
        The size that was taken. `rules_` has fewer rules where the votes of some came to next to nothing, less than a
        thousandth of the largest, as later rules came to say the same.
    path_ : DataFrame
        One row per size: ``clauses`` of all rules together, ``loss`` (what the votes minimise; it never rises),
        ``train_score``, ``train_fidelity`` and ``coverage`` (of the training rows), and with cross-validation
        ``cv_score``, ``cv_se`` and ``cv_fidelity``. Scores are accuracies; if a size is chosen by another one, its
        mean is in a column of its own, such as ``cv_neg_brier_score``.
    size_reason_ : str
        Why this size was taken.
    model_score_ : float
        The cross-validated score of the model itself.
    n_candidate_rules_ : int
        The number of rules to choose from: nodes that cover different rows.
    estimator_ : object
        The trained source model.
    n_sampled_rows_ : int
        After fitting from a table of `open_table`: how many rows the estimator was trained and a size was chosen on;
        ``path_`` has the scores of these rows.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    RulePathRegressor : the same for regression.
    MIRCOClassifier : few rules that cover every training row.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> path = RulePathClassifier(max_rules=10, random_state=0).fit(X, y)
    >>> path.n_rules_ == len(path.rules_) <= 10
    True
    >>> print(path.at(2).vote_)
    rule  support  log-odds of 1  if
    ...
    >>> path.path_[["train_score", "cv_score"]].shape
    (11, 2)
    >>> "rules have the best cross-validated Brier score" in path.size_reason_
    True
    """

    _default = RandomForestClassifier()
    _kind = CLASS_PATHS

    vote: str = "log-odds"
    gain: str | None = None
    class_weight: Any = None


class RulePathRegressor(RegressorMixin, RulePath):
    """Rule sets of every size from one forest of regression trees.

    `RulePathClassifier` for regression: every row starts with the default value, and each rule that covers it adds to
    it or subtracts from it. Scores are R².

    Parameters
    ----------
    estimator
        A regressor; by default what `pool` says, which is a forest and boosted trees together, or the forest alone
        where X is sparse. The model of boosted trees has a linear trend in its predictions, where that predicts better.
    pool, n_bins, max_rules, choose, within, scoring, cv, train_in_folds, max_depth, min_samples, ridge, shrinkage
        As in `RulePathClassifier`; a size is chosen by R² unless `scoring` says otherwise.
    model_share
        As in `RulePathClassifier`. Boosted trees of the pool predict out of fold, by copies that were trained on other
        rows, and count as much as the forest; a linear trend predicts with them, as far as it knows more. With boosted
        trees the share is by default the larger, the less can be predicted of rows that no model was trained on: from
        0, where that is nearly everything, to 0.8.
    tries, max_clauses, forbidden, required, monotone, keep, time_limit, checkpoint, random_state, n_jobs, verbose
        As in `RulePathClassifier`.

    Attributes
    ----------
    rules_, vote_, n_rules_, path_, size_reason_, model_score_, n_candidate_rules_, estimator_
        As in `RulePathClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> path = RulePathRegressor(max_rules=5, choose="last", random_state=0).fit(X, y)
    >>> print(path.vote_)
    rule  support  value  if
    ...
    >>> bool(path.score(X, y) > 0.4)
    True
    """

    _target = NumberTarget()
    _default = RandomForestRegressor()
    _kind = NUMBER_PATHS
