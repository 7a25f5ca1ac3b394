"""RCBoost: Algorithm 2 of the paper as scikit-learn estimators, for classes and for numbers (S.3)."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter, validate_data

from rulecover.checkpoint import Checkpoint, fingerprint
from rulecover.clock import deadline_of, is_late, training_deadline
from rulecover.data.encoder import TableEncoder
from rulecover.estimators.base import VotingModel
from rulecover.estimators.checks import (
    check_model_fits,
    check_time_and_checkpoint,
    chosen,
    one_of,
    real_number,
    settings_that_matter,
    whole_number,
)
from rulecover.estimators.door import as_numbers, needs_encoder, with_columns
from rulecover.estimators.elsewhere import RowsToBoost
from rulecover.estimators.first_steps import narrow_encoder_in_time
from rulecover.estimators.in_time import can_fit_votes, fitted_to_groups, made_in_time, votes_deadline
from rulecover.estimators.other_target import inner_model, on_table
from rulecover.estimators.places import rows_elsewhere
from rulecover.estimators.predicts import PredictsClasses, PredictsMeans
from rulecover.estimators.prepare import Preparation, Prepared, RuleModel, train
from rulecover.exceptions import CutShortWarning, RulecoverWarning, SolverError, UnreadableModelError
from rulecover.partitions.boost import GenerationInParts, binned_pricing
from rulecover.partitions.mirco import grouped_rows
from rulecover.rcboost.admission import ADMISSIONS
from rulecover.rcboost.boost import Boosted, BoostRun, ChangingVote, Watch, boost, boosted, grown_tree
from rulecover.rcboost.generate import BoostRecipe, RuleGeneration, grows_first
from rulecover.rcboost.kept_rounds import KeptRounds
from rulecover.rcboost.pricing.oracles import PRICINGS
from rulecover.rcboost.removal import REMOVALS, Removal
from rulecover.readers import unreadable
from rulecover.readers.sklearn.tables import encoded_columns, rules_on_table, table_columns
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Status
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.answers import LogOddsClasses
from rulecover.voting.vote import Tally, Vote
from rulecover.voting.voting_on import voting_on

if TYPE_CHECKING:
    from rulecover.estimators.rulepath import RulePathClassifier, RulePathRegressor

#: A share of a rule in the LP's optimum that counts as more than nothing.
_SHARE = 1e-9
#: How many calls there are by default, unless the pricing says otherwise.
_CALLS = 50
#: What costs more times as much as the cheapest rule leaves no digit for it in the LP.
_FURTHEST = 1e15
#: With early stopping, the part of the data that is held out.
_HELD_OUT = 0.1


class Started(NamedTuple):
    """A run of Algorithm 2 to go on with, the data that it learns from, as they were given, and what a call takes."""

    run: BoostRun
    learned: Prepared
    expected: float = 0.0

    @property
    def seconds_of_a_call(self) -> float:
        """How long the next call will take: as long as the last one did, or as is expected of the first."""
        last = self.run.rounds[-1] if self.run.rounds else None
        return self.expected if last is None else last.seconds + last.seconds_lp


class FirstTree:
    """Grows the first tree of a pricing on as many samples as there is time for, and knows how many these were."""

    def __init__(self, deadline: float | None, *, classes: bool) -> None:
        self._deadline, self._classes = deadline, classes
        self.some = ""

    def __call__(self, grow: Callable[[Samples], TreeEnsemble], samples: Samples) -> TreeEnsemble:
        tree, self.some = made_in_time(grow, samples, self._deadline, classes=self._classes, all_classes=False)
        return tree


class FirstTreeElsewhere:
    """Grows the first tree of rows elsewhere on a sample, if there is no time for all; knows how many rows these were.

    What the sample takes says whether there is time for one of all rows, which is then grown where they are.
    """

    def __init__(
        self, grow: Callable[..., TreeEnsemble], sample: Samples, deadline: float | None, *, classes: bool
    ) -> None:
        self._grow, self._sample, self._deadline, self._classes = grow, sample, deadline, classes
        self.some = ""

    def __call__(self, seed: int, n_rows: int, n_parts: int) -> TreeEnsemble | None:
        if self._deadline is None:
            return None
        n_sampled, seconds = len(self._sample.y), 0.0

        def grow(samples: Samples) -> TreeEnsemble:
            nonlocal seconds
            begin, tree = time.perf_counter(), self._grow(samples, seed=seed)
            seconds = time.perf_counter() - begin
            return tree

        tree, some = made_in_time(grow, self._sample, self._deadline, classes=self._classes, all_classes=False)
        if not some and not is_late(self._deadline, seconds * n_rows / (n_sampled * n_parts)):
            return None
        self.some = some or ("" if n_sampled >= n_rows else f"{n_sampled:,} of {n_rows:,} rows")
        return tree


@dataclass(eq=False, repr=False, kw_only=True)
class RuleBoosting(VotingModel):
    """What RCBoost does with rules, whatever they predict: generate them by the duals of a covering LP."""

    estimator: Any = field(default=None, kw_only=False)
    max_rmp_calls: int | None = None
    criterion: Any
    duals: Literal["equal", "vertex", "near"] = "equal"
    step: float | str = "even"
    pricing: Any
    admit: Any = "all"
    remove: Any = None
    rule_weights: str | None = None
    vote: str
    fallback: Any
    early_stopping: bool | int = False
    warm_start: bool = False
    time_limit: float | None = None
    checkpoint: Any = None
    on_interrupt: str = "raise"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    #: Where `fit` goes on with `warm_start`, and what makes numbers of a table.
    _started = cast("Started | None", None)
    _encoder = cast("TableEncoder | None", None)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the solver of the LP, which no file can hold: a copy with `warm_start` begins again."""
        state = super().__getstate__()
        state.pop("_started", None)
        return state

    # Fitting: Algorithm 2 ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Generates rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a data frame or a sparse matrix. Or a Dask array or frame of numbers, whose rows
            stay on the workers of the cluster that the active client of `distributed` is connected to; its trees are
            grown on the workers, which takes ``pricing="binned"``.
        y
            What is to be predicted, one value per row: labels of any kind, or numbers. The name of a column of X, if X
            is a Dask frame.
        sample_weight
            Counts in the trees, impurities, duals and votes: a row of weight 3 is three rows. Rows of weight zero need
            no cover.

        Returns
        -------
        RuleBoosting
            Itself.

        Raises
        ------
        ValueError
            If a setting is out of its range, or X, y or the weights do not fit together.
        UnreadableModelError
            If the estimator is of a type that no reader knows.
        """
        begin = time.perf_counter()
        self._check_settings()
        rows = rows_elsewhere(X, y, sample_weight)
        if rows is not None:
            return self._fit_on_workers(rows.check_boost(self), begin)
        deadline = deadline_of(self.time_limit, begin=begin)
        started = self._started if self.warm_start else None
        if started is None:
            started = self._begin(X, y, sample_weight, begin)
        # A first tree of some rows is not gone on with: there may be time for all rows next time.
        self._started = started if self.warm_start and not started.learned.cut else None
        run = started.run
        with nullcontext() if self.checkpoint is None else self._checkpoint(started) as file:
            over = self._boost(run, deadline, file, started.seconds_of_a_call)
        votes_cut = self._take(boosted(run, over=over), run.generation, deadline)
        if run.generation.unread not in started.learned.cut:
            self._warn_of_cut(run.generation.unread, stacklevel=3)
        named = self.vote_ if self._encoder is None else _named_by(self._encoder, self.vote_)
        learned = started.learned.samples
        if self._encoder is not None:
            learned = self._as_rules_see(started.learned, self._write_on_table(self._encoder, X))
        self._finished(self.vote_, run.generation.samples, learned, named=named)
        is_done = over and not votes_cut and self.certificate_.status != Status.TIME_LIMIT
        if file is not None and is_done:
            file.remove()
        return self

    def _begin(self, X: Any, y: Any, sample_weight: Any, begin: float) -> Started:
        """The loop, ready to go, and what its first call will take."""
        # A checkpoint is of a first tree, which must not depend on the clock.
        until = training_deadline(begin, self.time_limit) if self.checkpoint is None else None
        # A tree that is trained again without the rows that are watched is not waited for.
        soon = until if until is None or self.early_stopping is False else begin
        encoded, known = self._encoded(X, until)
        prepared = self._prepare(encoded, y, sample_weight, deadline=soon)
        begin_of_first = time.perf_counter() if self._is_trained else begin
        started = self._start(prepared, until)
        cut = started.learned.cut  # if so, there was no time for one tree of all rows
        expected = math.inf if cut else self._seconds_of_a_call(time.perf_counter() - begin_of_first)
        cut = " and ".join(filter(None, [cut, known]))
        self._warn_of_cut(cut)
        return started._replace(learned=replace(started.learned, cut=cut), expected=expected)

    def _fit_on_workers(self, rows: RowsToBoost, begin: float) -> Self:
        """The same for rows on the workers of a cluster."""
        deadline, until = deadline_of(self.time_limit, begin=begin), training_deadline(begin, self.time_limit)
        self._encoder, recipe = None, self._recipe()
        prepared, pricing = rows.prepared(self, until), binned_pricing(recipe)
        parts, links, head = rows.boost_parts(self, prepared, pricing)
        grow = partial(pricing.first, tree=inner_model(self.estimator_))
        first = FirstTreeElsewhere(grow, prepared.samples, until, classes=self._target.name == "classes")
        generation = GenerationInParts(
            parts,
            links,
            head,
            inner_model(self.estimator_),
            recipe=recipe,
            names=lambda first: check_model_fits(first, head.X, self._names()),
            seed=check_random_state(self.random_state).randint(2**31 - 1),
            first=first,
        )
        self.estimator_ = self.initial_estimator_ = grown_tree(generation.generated, self._target)
        self._warn_of_cut(first.some and f"the model was trained on {first.some}")
        run = BoostRun(generation)
        over = self._boost(run, deadline, None, math.inf if first.some else 0.0)
        self._take(boosted(run, over=over), generation, deadline)
        return self._finished(self.vote_, prepared.samples, generation.fingerprint_of(self.rules_))

    def _warn_of_cut(self, cut: str, *, stacklevel: int = 4) -> None:
        """Says what there was no time for."""
        if cut:
            said = f"time_limit is {self.time_limit:g} s: {cut}; give more time, or a sample of the rows."
            warnings.warn(said, CutShortWarning, stacklevel=stacklevel)

    def _seconds_of_a_call(self, first_tree: float) -> float:
        """How long the first call will take, roughly, given the seconds of the first tree; 0 if that is not known."""
        if self._is_trained:  # one more tree of the model
            return first_tree
        if not hasattr(self._pricing, "first_trees"):
            return 0.0
        return float(first_tree * self._pricing.first_trees(self.n_features_in_))

    def _boost(self, run: BoostRun, deadline: float | None, file: Checkpoint | None, expected: float = 0.0) -> bool:
        """Runs the loop, from where it was kept if there is a checkpoint; whether it came to its own end."""
        rounds = None if file is None else KeptRounds(file)
        try:
            if rounds is not None and rounds.resume(run, patience=self._patience()):
                return True
            # Each fit that goes on from a file makes a call at least, if there is time for its first tree.
            expected = 0.0 if rounds is not None and run.rounds else expected
            keep = None if rounds is None else rounds.note
            limits: dict[str, Any] = {"deadline": deadline, "expected": expected, "patience": self._patience()}
            over = boost(run, self._most_calls(), **limits, keep=keep, verbose=self.verbose)
        except KeyboardInterrupt:
            if self.on_interrupt != "keep":
                raise
            return False
        except SolverError as error:
            self.pool_ = run.generation.generated.rules
            raise SolverError(
                f"RMP call {len(run.rounds) + 1}: {error} The {len(self.pool_)} rules generated so far are in pool_."
            ) from error
        if not over and self.time_limit is not None:
            made = f"{len(run.rounds)} of up to {self._most_calls()} calls were made"
            said = f"time_limit is {self.time_limit:g} s: {made}; give more time, or ask for fewer calls."
            warnings.warn(said, CutShortWarning, stacklevel=3)
        return over

    def _checkpoint(self, started: Started) -> Checkpoint:
        run, source = started.run, started.learned.source
        seen = [run.generation.samples, *([] if run.watch is None else [run.watch.samples])]
        rows = [array for samples in seen for array in (samples.X, samples.labels, samples.weight)]
        first = run.generation.generated.rules.clauses
        # Of a trained model the settings say nothing: it is told by its trees.
        trees = () if source.trees is None else source.trees.trees
        nodes = [each for tree in trees for each in (tree.feature, tree.threshold, tree.left, tree.missing_left)]
        data = *rows, first.lower, first.upper, first.feature, *nodes
        return Checkpoint(self.checkpoint, "RCBoost", fingerprint(settings_that_matter(self), *data))

    def _as_rules_see(self, learned: Prepared, rows: Array) -> Samples:
        """The samples on the columns that the rules are written on, of which they may use some."""
        seen = np.zeros((len(learned.rows), rows.shape[1]), rows.dtype, order="F")  # unused columns take no memory
        for f in self._columns_in_use().tolist():
            seen[:, f] = rows[learned.rows, f]
        samples: Samples = replace(learned.samples, X=seen)
        return samples

    def _encoded(self, X: Any, deadline: float | None) -> tuple[Any, str]:
        """The rows as numbers: trees are grown on them again and again, and encoded only once.

        And what there was no time for before the deadline, by `time.perf_counter`, in words.
        """
        X, source = with_columns(X, None), self.estimator
        given = source[0] if _is_behind_encoder(source) else None
        takes = self._is_trained or not needs_encoder(self._default_estimator() if source is None else source, X)
        if given is None and takes:
            self._encoder = None
            return X, ""
        encoder = (TableEncoder() if given is None else clone(given)).set_params(native_categories=False)
        cut = ""
        if deadline is None:
            self._encoder = encoder.fit(X)
        else:
            self._encoder, cut = narrow_encoder_in_time(encoder, X, deadline)
        return self._encoder.transform(X), cut

    def _write_on_table(self, encoder: TableEncoder, X: Any) -> Array:
        """Writes rules on encoded columns as rules on the columns of the table; returns the rows as these see them."""
        columns = table_columns(encoder)
        X = with_columns(X, columns.names)
        validate_data(self, X, skip_check_array=True)
        pool = rules_on_table(self.pool_, encoder, columns)
        rows = as_numbers(columns, X, pool.clauses.columns)
        self.pool_ = pool.shown_for(rows)
        self.vote_ = replace(self.vote_, rules=rules_on_table(self.vote_.rules, encoder, columns).shown_for(rows))
        self.rules_ = self.vote_.rules
        self._columns = columns
        self.estimator_ = self.initial_estimator_ = on_table(encoder, self.estimator_)
        return rows

    def _take(self, found: Boosted, generation: RuleGeneration, deadline: float | None = None) -> str:
        """Takes what was found, and says what there was no time for in the fit of votes."""
        self.pool_, self._stages, self.history_ = found.rules, found.stages, found.history
        pool, self.z_ = found.stages[-1]
        self.vote_, cut = self._fitted(self._stage_vote(pool, self.z_), generation, deadline)
        self.rules_ = self.vote_.rules
        self.n_rmp_calls_ = len(found.stages) - 1
        self.certificate_ = found.certificate
        self._warn_of_costs(generation.generated.evidence.cost)
        return cut

    def _warn_of_costs(self, cost: Floats) -> None:
        """Says where the LP cannot tell the costs of cheap rules from zero."""
        if cost.max() <= _FURTHEST * cost.min():
            return
        way = "a scale nearer to the variance of y" if hasattr(self, "scale") else "a criterion of smaller values"
        warnings.warn(
            f"some rules cost {cost.max() / cost.min():.0e} times as much as others, next to which the duals of the "
            f"others are lost in rounding; give {way}.",
            RulecoverWarning,
            stacklevel=4,
        )

    def _fitted(self, plain: Vote, generation: RuleGeneration, deadline: float | None) -> tuple[Vote, str]:
        """The votes of the last stage, fitted if that is asked for, and what there was no time for, in words."""
        voting = voting_on(self._target)
        if self.vote not in voting.fitted:
            return plain, ""
        if not can_fit_votes(plain, deadline):
            self._warn_of_cut(cut := "votes were not fitted", stacklevel=5)
            return plain, cut
        samples = generation.samples
        if isinstance(generation, GenerationInParts):
            groups = grouped_rows(generation.parts, plain.rules, samples)
            vote, some = fitted_to_groups(voting.fitted[self.vote], plain, groups, votes_deadline(deadline))
        else:
            fit, classes = partial(voting.fitted_to, name=self.vote, plain=plain), self._target.name == "classes"
            vote, some = made_in_time(fit, samples, votes_deadline(deadline), classes=classes)
        self._warn_of_cut(some and f"votes were fitted to {some}", stacklevel=5)
        return vote, some

    def _vote_of(self, rules: RuleSet) -> Vote:
        return voting_on(self._target).plain(rules, self.vote)

    def _check_settings(self) -> None:
        if self.max_rmp_calls is not None:
            whole_number("max_rmp_calls", self.max_rmp_calls, at_least=0)
        if not isinstance(self.early_stopping, bool):
            whole_number("early_stopping", self.early_stopping, at_least=1)
        check_time_and_checkpoint(self)
        if self.checkpoint is not None and self.warm_start:
            raise ValueError("checkpoint and warm_start are two ways to go on; leave one of them out.")
        one_of("vote", self.vote, self._votes())
        one_of("duals", self.duals, ("equal", "vertex", "near"))
        one_of("rule_weights", self.rule_weights, (None, "z"))
        one_of("on_interrupt", self.on_interrupt, ("raise", "keep"))
        self._fallback()
        self._recipe()
        if self._is_trained:
            self._check_trained()

    @property
    def _is_trained(self) -> bool:
        """Whether rules come from a model that is trained, and nothing is grown."""
        return isinstance(self.estimator, (FrozenEstimator, RuleSet))

    def _check_trained(self) -> None:
        """Raises for settings that are about trees to be grown, and for models that have no trees."""
        if isinstance(self.estimator, RuleSet) or isinstance(self.estimator.estimator, (RuleSet, RuleModel)):
            raise UnreadableModelError(
                "RCBoost takes trees, whose leaves it adds to a pool, but these rules have none behind them; choose "
                "among them with a path or a cover: explain(rules, X, y), or with method='cover'."
            )
        if self.early_stopping is not False:
            raise ValueError(
                f"early_stopping is {self.early_stopping!r}, which watches rows that no tree has seen, but the model "
                "is trained; leave it out, or give fewer calls (max_rmp_calls)."
            )
        if not hasattr(self._pricing, "of_model"):
            raise ValueError(
                f"pricing is {self.pricing!r}, which grows trees, but the model is trained; choose 'tree' or 'forest', "
                "by which one or 20 of its trees are taken at each call."
            )

    def _votes(self) -> tuple[str, ...]:
        """The names of votes: all but those by least squares, which are for covers."""
        return tuple(name for name in voting_on(self._target).names if name != "fitted")

    def _source(self, X: Any, y: Any) -> Any:
        source = super()._source(X, y)
        if self._is_trained:
            return source
        source = source[-1] if _is_behind_encoder(source) else source
        if isinstance(source, RuleModel):
            raise unreadable(source)
        if not has_fit_parameter(source, "sample_weight"):
            raise UnreadableModelError(
                f"{type(source).__name__} takes no sample weights, by which RCBoost steers its trees; "
                f"give a tree such as {type(self._default_estimator()).__name__}."
            )
        if hasattr(self._pricing, "check"):
            self._pricing.check(source)
        return source

    def _columns_in_use(self) -> Ints:
        return self.pool_.clauses.columns

    def _preparation(self) -> Preparation:
        """The first tree is trained, unless the pricing grows it, and not read: all trees use the same numbers."""
        if self._is_trained:
            return super()._preparation()
        return replace(super()._preparation(), trains=not grows_first(self._pricing), repeats=True, reads=False)

    @property
    def _pricing(self) -> Any:
        """Where new rules come from."""
        return chosen("pricing", self.pricing, PRICINGS)

    def _most_calls(self) -> int:
        return getattr(self._pricing, "usual_calls", _CALLS) if self.max_rmp_calls is None else self.max_rmp_calls

    def _step(self) -> float | None:
        if isinstance(self.step, str):
            if self.step != "even":
                raise ValueError(f"step is {self.step!r}; give 'even' or a number.")
            return None
        return real_number("step", self.step, above=True)

    def _removal(self) -> Removal | None:
        if self.remove is None:
            return None
        removal: Removal = chosen("remove", self.remove, REMOVALS, needs=("calls",))
        return removal

    def _patience(self) -> int | None:
        if self.early_stopping is False:
            return None
        return 10 if self.early_stopping is True else int(self.early_stopping)

    def _held_out(self, data: Samples) -> tuple[Ints, Ints | None]:
        """The samples to learn from, and some to watch, if learning is to stop early."""
        rows = np.arange(len(data.y))
        if self.early_stopping is False:
            return rows, None
        learn, watch = train_test_split(
            rows, test_size=_HELD_OUT, stratify=_large_strata(data.strata), random_state=self.random_state
        )
        return np.sort(learn), np.sort(watch)

    def _start(self, prepared: Prepared, until: float | None = None) -> Started:
        """The first tree, its pool, and the loop that is ready to begin."""
        rows, watched = self._held_out(prepared.samples)
        learned = prepared if watched is None else prepared.among(rows)
        learn = learned.samples
        if watched is not None:  # the first tree must not have seen what is watched
            first = self._source(learn.X, learn.labels)
            recipe_of_first = replace(self._preparation(), deadline=until)
            self.estimator_, cut, *_ = train(first, learn.X, learn.labels, learn.weight, recipe_of_first)
            learned = replace(learned, cut=cut)
        recipe = self._recipe()
        if prepared.source.trees is not None:
            recipe = replace(recipe, pricing=self._pricing.of_model(prepared.source.trees))
        grow = FirstTree(until, classes=self._target.name == "classes")
        generation = RuleGeneration(
            learn,
            inner_model(self.estimator_),
            recipe,
            lambda first: check_model_fits(first, learn.X, self._names()),
            seed=check_random_state(self.random_state).randint(2**31 - 1),
            grow=None if self._is_trained else grow,
            until=until,
        )
        grown = grow.some and f"the model was trained on {grow.some}"
        learned = replace(learned, cut=" and ".join(filter(None, [learned.cut, grown, generation.unread])))
        if grows_first(recipe.pricing) and not self._is_trained:
            self.estimator_ = grown_tree(generation.generated, self._target)
        self.initial_estimator_ = self.estimator_
        if watched is None:
            return Started(BoostRun(generation), learned)
        held_out = prepared.samples.among(watched)
        watch = Watch(held_out, self._target, lambda rules: self._vote_of(generation.generated.written(rules)))
        return Started(BoostRun(generation, watch), learned)

    def _recipe(self) -> BoostRecipe:
        return BoostRecipe(
            self._pricing,
            Price(chosen("criterion", self.criterion, dict(self._target.criteria))),
            chosen("admit", self.admit, ADMISSIONS),
            self._removal(),
            self.duals,
            self._step(),
        )

    def _stage_vote(self, pool: Ints, z: Floats) -> Vote:
        """How the rules of a stage vote."""
        if self.rule_weights is None:
            return self._vote_of(self.pool_).take(pool)
        kept = np.flatnonzero(z > _SHARE)
        return self._vote_of(self.pool_.take(kept)).times(z[kept])

    # Stages -----------------------------------------------------------------------------------------------------

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The predictions after each call, from the first tree (stage 0) to the whole pool.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Yields
        ------
        numpy.ndarray
            As `predict` returns them.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X does not have the columns that the model was fitted to.
        """
        for tally in self._staged_tallies(X):
            yield self.vote_.decided(tally)

    def _staged_tallies(self, X: Any) -> Iterator[Tally]:
        if isinstance(self.vote_.answer, LogOddsClasses):
            raise ValueError(
                "log-odds are fitted to the rules of the last call, and there are none for earlier calls; train with "
                "vote='shares' for staged predictions."
            )
        rows, ask = self._check_rows(X), partial(self._asked, X)
        # The votes of all rules, so that those of any part of them add up exactly.
        changing = ChangingVote(self._vote_of(self.pool_).take, rows)
        for pool, z in self._stages:
            vote = self._voting(self._stage_vote(pool, z))
            if self.rule_weights is None:
                yield vote.completed(changing.to(pool), rows, ask)
            else:  # every stage has its own weights
                yield vote.tally(rows, ask)


def _named_by(encoder: TableEncoder, vote: Vote) -> Vote:
    """The vote of rules on encoded columns, under the names that the encoder gives them."""
    return replace(vote, rules=replace(vote.rules, columns=encoded_columns(encoder)))


def _is_behind_encoder(source: Any) -> bool:
    """Whether a tree has an encoder in front of it, and nothing else."""
    return isinstance(source, Pipeline) and len(source) == 2 and isinstance(source.steps[0][1], TableEncoder)


@dataclass(eq=False, repr=False, kw_only=True)
class RCBoostClassifier(PredictsClasses, RuleBoosting):
    """Boosting by column generation: the duals of a covering LP weigh the samples of the next tree.

    The leaves of a first tree are the rule pool. Again and again the covering LP over the pool is solved, its duals
    are added to the weights of the samples, a tree is grown on the weighted samples, and those of its leaves whose
    reduced cost is negative enter the pool (Algorithm 2 of Birbil, Edali and Yüceoğlu, 2020). All rules of the pool
    vote.

    The defaults aim at good predictions: a few randomised trees are grown at each call, in place of one, and rules vote
    by shares. `as_in_paper` follows the paper.

    Parameters
    ----------
    estimator
        The tree of Algorithm 2, the first one and the one that prices. By default a decision tree of depth 10. Or a
        trained model in ``FrozenEstimator``, whose own leaves are the rules: nothing is trained, the pool begins with
        its first tree, and each call adds leaves of those of its trees that have the most negative reduced costs.
    max_rmp_calls
        A bound on the number of solves of the restricted master problem (RMP). By default 5 where the pricing is a
        forest, and 50 for any other.
    criterion
        The impurity w in the cost ``1 + w`` of a rule: "gini", "entropy" or "log_loss".
    duals
        The LP has many optimal duals. "equal" shares the price of samples that are covered by the same rules equally
        among them; "vertex" leaves it with one of them, as a simplex code does (the paper's reading). "near" takes
        duals that are proved to be within 5 % of the optimum, shared equally, until the last solve, which is exact: for
        many rows, and a pricing that grows ten trees or more per call.
    step
        The factor by which duals are added to the weights of the rows. "even": so that a call adds a tenth of what all
        rows weigh at first, whatever their number; 1 is the paper's, with which the duals of many rows hardly count.
    pricing
        Where new rules come from: "tree" (paper), "forest" (20 randomised trees per call), "binned" (a tree on binned
        features, by XGBoost: for many rows), "bicriteria" (a tree whose splits weigh impurity and reduced cost),
        "exact" (the rules of most negative reduced cost, for small problems: with it a bound over all rules), or an
        object of `rulecover.rcboost`. Of a frozen model, "tree" takes one tree per call and "forest" 20; others are
        refused.
    admit
        Which rules of negative reduced cost enter the pool: "all" (paper), "best" (the most negative one), or an
        object such as ``Negative(at_most=5)`` of `rulecover.rcboost.admission`.
    remove
        ``None``: rules stay in the pool (paper). "stale": a rule leaves whose reduced cost was above 0.5 in five solves
        in a row; or an object such as ``Stale(above=0.2, calls=3)`` of `rulecover.rcboost.removal`. The pool covers
        every training row all the same; once rules of the first tree have left, other rows may be missed, which go to
        `fallback`.
    rule_weights
        ``None``: every rule of the pool votes as it is (paper). "z": only rules with a share in the LP's optimum
        vote, times that share; such a pool may miss rows, which go to `fallback`.
    vote, fallback, class_weight
        As in `MIRCOClassifier`, but "shares" by default ("counts" in the paper), and no votes by least squares.
        "log-odds" are fitted once, to the rules that vote after the last call, whatever `rule_weights` says; there are
        no staged predictions then.
    early_stopping
        ``False``, or the number of calls without a better accuracy on a held-out tenth of the data after which to
        stop; ``True`` is 10. The rules of the best call are kept. All rules of the pool vote there, whatever
        `rule_weights` says.
    warm_start
        ``fit`` again with a higher `max_rmp_calls`, on the same data, goes on where it was; a copy that was loaded from
        a file begins again.
    time_limit
        Seconds for the whole fit. No call is begun that would end later, judged by the one before or by the first tree,
        and solves of the LP and exact searches end in time. If half of the time is too short to train the first tree on
        all rows, it is trained on a sample of them, also on Dask, and so are log-odds fitted where that would take
        longer than another second. A `CutShortWarning` says so, and how many calls were made; the status of
        `certificate_` is "time limit" where calls, or the last solve, were cut.
    checkpoint
        A file, such as "boost.npz", in which the calls are kept as they are made, so that a fit that was killed, or cut
        short by `time_limit` or Ctrl-C, goes on from there when it is run again on the same data with the same
        settings; the model is the same as without a break. The file is removed at the end. It needs a whole number as
        `random_state`.
    on_interrupt
        Ctrl-C during the calls: "raise", or "keep" the rules of the last full one.
    random_state
        Seed of the tree, the pricing and the held-out part.
    n_jobs
        Threads of the default pricing forest. The rules do not depend on it.
    verbose
        Above 0 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleSet
        The rules that vote.
    n_rmp_calls_ : int
        The number of solves whose duals steered a tree; one more gives the certificate.
    initial_estimator_ : object
        The first tree (the paper's iniDT).
    certificate_ : Certificate
        The optimum of the LP over the whole pool.
    pool_ : RuleSet
        All rules that were generated, whether they vote or not.
    z_ : ndarray
        The share of each of these in that optimum; none if it has left the pool.
    history_ : DataFrame
        One row per call: rules in the pool, rules added and removed, objective (of near duals their sum, a bound on the
        LP over the pool), a bound on the LP over all rules that the pricing can find (NaN if it proves none), most
        negative reduced cost, samples in the LP, seconds in LP, pricing and the rest.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> boosted = RCBoostClassifier(max_rmp_calls=5, random_state=0).fit(X, y)
    >>> boosted.score(X, y) > 0.95
    True
    >>> [round(float((stage == y).mean()), 2) for stage in boosted.staged_predict(X)][0]
    1.0
    """

    # A leaf must carry some weight: rows that hardly count make no rule of their own.
    _default = DecisionTreeClassifier(max_depth=10, min_weight_fraction_leaf=1e-6)

    criterion: Any = "gini"
    pricing: Any = "forest"
    vote: str = "shares"
    fallback: Any = "closest"
    class_weight: Any = None

    @classmethod
    def as_in_paper(cls, estimator: Any = None, **settings: Any) -> RCBoostClassifier:
        """The paper's settings: one tree per call, duals as a simplex code returns them, all rules vote by counts.

        Parameters
        ----------
        estimator
            As in `RCBoostClassifier`.
        **settings
            Others of its settings; they take precedence.

        Returns
        -------
        RCBoostClassifier
            Not fitted yet.

        Examples
        --------
        >>> RCBoostClassifier.as_in_paper()
        RCBoostClassifier(duals='vertex', max_rmp_calls=50, pricing='tree', step=1.0,
                          vote='counts')
        """
        paper = {"max_rmp_calls": 50, "duals": "vertex", "step": 1.0, "pricing": "tree", "admit": "all"}
        paper |= {"remove": None, "rule_weights": None, "vote": "counts", "fallback": "closest"}
        return cls(estimator, **{**paper, **settings})

    @classmethod
    def few_rules(cls, max_rules: int = 100, **settings: Any) -> RulePathClassifier:
        """RCBoost at its best with a few dozen rules: a path through a pool of trees of depth 8.

        Rules are chosen from the pool one after another, clauses that do not help are dropped, and all votes are fitted
        as log-odds, as `RulePathClassifier` does it.

        Parameters
        ----------
        max_rules
            The size of the largest set, which is the one that is taken.
        **settings
            As in `RCBoostClassifier`; `random_state` seeds everything, and `vote` is that of `RulePathClassifier`.
            `fallback` is not among them: rows that no rule covers have the default vote of the path.

        Returns
        -------
        RulePathClassifier
            Not fitted yet.

        Raises
        ------
        ValueError
            If `fallback` is among the settings.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> few = RCBoostClassifier.few_rules(10, random_state=0).fit(X, y)
        >>> len(few.rules_), len(few.estimator_.rules_) > 50, few.score(X, y) > 0.95
        (10, True, True)
        """
        from rulecover.estimators.rulepath import RulePathClassifier

        _check_few_rules(settings, "fallback")
        tree = DecisionTreeClassifier(max_depth=8, min_weight_fraction_leaf=1e-6)
        # The path weighs the rows, and hands the weights down.
        of_path = {name: settings.pop(name) for name in ("class_weight", "vote") if name in settings}
        return RulePathClassifier(
            cls(**{"estimator": tree, **settings}),
            max_rules=max_rules,
            choose="last",
            random_state=settings.get("random_state"),
            time_limit=settings.get("time_limit"),
            **of_path,
        )

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities after each call, from the first tree (stage 0) to the whole pool.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Yields
        ------
        numpy.ndarray
            As `predict_proba` returns them.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X does not have the columns that the model was fitted to.
        """
        for tally in self._staged_tallies(X):
            yield self.vote_.probabilities(tally)


@dataclass(eq=False, repr=False, kw_only=True)
class RCBoostRegressor(PredictsMeans, RuleBoosting):
    """Boosting of numbers by column generation: the duals of a covering LP weigh the samples of the next tree.

    As `RCBoostClassifier`, with the squared error of a rule as its impurity and the mean of the covering rules as the
    prediction (S.3 of Birbil, Edali and Yüceoğlu, 2020).

    Parameters
    ----------
    estimator
        The tree of Algorithm 2, the first one and the one that prices. By default a decision tree of depth 5 with at
        least a hundredth of the weight in each leaf.
    max_rmp_calls
        A bound on the number of solves of the restricted master problem (RMP). By default 50, and 5 where the pricing
        is a forest.
    criterion
        The impurity w in the cost ``1 + w`` of a rule: "squared_error".
    scale
        The squared error that costs as much as a rule, in squared units of y; "auto" is the variance of y. The
        smaller, the more an impure rule costs.
    duals, step, admit, remove, rule_weights, warm_start, time_limit, checkpoint, on_interrupt, random_state, n_jobs,
    verbose
        As in `RCBoostClassifier`.
    pricing
        Where new rules come from: "tree" (paper), "forest" (20 randomised trees per call), "binned" (a tree on binned
        features, by XGBoost: for many rows), or an object of `rulecover.rcboost`. "bicriteria" and "exact" search by
        classes, and are refused.
    vote, fallback
        As in `MIRCORegressor`, for plain means.
    early_stopping
        ``False``, or the number of calls without a better R² on a held-out tenth of the data after which to stop;
        ``True`` is 10. The rules of the best call are kept.

    Attributes
    ----------
    rules_, n_rmp_calls_, initial_estimator_, certificate_, pool_, z_, history_
        As in `RCBoostClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    MIRCORegressor : a few rules; ``explain(boosted, X, y)`` chooses them from this model's pool.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> boosted = RCBoostRegressor(max_rmp_calls=5, random_state=0).fit(X, y)
    >>> boosted.score(X, y) > 0.4
    True
    >>> len(list(boosted.staged_predict(X))) == boosted.n_rmp_calls_ + 1
    True
    """

    # Trees of numbers tend to have a leaf for every few rows (S.3): rules must cover some.
    _default = DecisionTreeRegressor(max_depth=5, min_weight_fraction_leaf=0.01)

    criterion: Any = "squared_error"
    scale: Any = "auto"
    pricing: Any = "tree"
    vote: str = "equal"
    fallback: Any = "mean"

    @classmethod
    def few_rules(cls, max_rules: int = 100, **settings: Any) -> RulePathRegressor:
        """RCBoost at its best with a few dozen rules: a path through its pool, as `RulePathRegressor` chooses it.

        Parameters
        ----------
        max_rules
            The size of the largest set, which is the one that is taken.
        **settings
            As in `RCBoostRegressor`; `random_state` seeds everything. The votes of the path are fitted, and rows that
            no rule covers have its default value: `vote` and `fallback` are not among them.

        Returns
        -------
        RulePathRegressor
            Not fitted yet.

        Raises
        ------
        ValueError
            If `vote` or `fallback` is among the settings.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> few = RCBoostRegressor.few_rules(10, max_rmp_calls=20, random_state=0).fit(X, y)
        >>> len(few.rules_), len(few.estimator_.rules_) > 50, few.score(X, y) > 0.4
        (10, True, True)
        """
        from rulecover.estimators.rulepath import RulePathRegressor

        _check_few_rules(settings, "vote", "fallback")
        return RulePathRegressor(
            cls(**settings),
            max_rules=max_rules,
            choose="last",
            random_state=settings.get("random_state"),
            time_limit=settings.get("time_limit"),
        )


#: What a path through the pool does in its own way.
_IN_PATH = {
    "vote": "what a few rules add to a number is fitted",
    "fallback": "a few rules add to a default vote, which is the prediction where no rule covers a row",
}


def _check_few_rules(settings: Mapping[str, Any], *names: str) -> None:
    """Raises for settings of RCBoost that would change nothing in a path through its pool."""
    for name in names:
        if name in settings:
            raise ValueError(
                f"{name} is {settings[name]!r}, but {_IN_PATH[name]}; leave it out, or leave max_rules out."
            )


def _large_strata(strata: Ints | None) -> Ints | None:
    """Strata to be kept in equal shares, if all are large enough to be in both parts."""
    if strata is None:
        return None
    counts = np.unique(strata, return_counts=True)[1]
    return None if counts.min() < 2 or len(strata) * _HELD_OUT < len(counts) else strata
