"""How rules vote, and how votes become a prediction: C(x₀, 𝒥̂) of the paper, eq. (2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd
import scipy.sparse
from scipy.special import ndtri

from rulecover.coverage import addable, fit_float32
from rulecover.data.frames import is_frame, is_unnamed
from rulecover.data.inputs import Input, TableInput, input_of, read_frame, table_input_of
from rulecover.data.provenance import Provenance
from rulecover.exceptions import MismatchedDataError
from rulecover.rules.clauses import CHUNK
from rulecover.rules.ruleset import RuleSet
from rulecover.show.notebook import notebook_table
from rulecover.show.printed import Printed
from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting.answers import AddedClasses, Answer, Classes, Mean
from rulecover.voting.fallback import CLOSEST, Default, Fallback

if TYPE_CHECKING:
    from rulecover.show.grid import Grid

#: Votes are added for so few rows at a time that (rows, rules) as floats are this many: they stay in the cache.
_FLOATS = 1 << 17

#: From the numbers of rows to the source model, ready to be asked about these rows.
AskModel = Callable[[Ints], Any]


class Tally(NamedTuple):
    """The votes for each row, added up (rows x columns), and the number of rules that cover it."""

    sums: Floats
    fired: Ints

    @property
    def missed(self) -> Bools:
        """Which rows no rule covers."""
        return np.asarray(self.fired == 0)


@dataclass(frozen=True, eq=False)
class Vote(Printed):
    """Rules that vote: each rule that covers a row adds its votes to a base, and the sums are the prediction.

    It does not need the model that the rules came from, unless the fallback does: every model of rules holds one,
    model files are read as one, and every export begins with one.

    Parameters
    ----------
    rules
        The rules that vote.
    votes
        What each rule adds, rules x columns; sums of them must not depend on the order (see
        `rulecover.coverage.addable`).
    answer
        How sums of votes become predictions, and what their columns are.
    totals
        The totals of all training data, for classes their counts: used where neither rules nor fallback vote.
    fallback
        What predicts for a row that no rule covers.
    base
        The votes that every row begins with; zeros by default.
    fallback_votes
        The votes of each rule in the fallback, if they differ from those for rows that it covers.
    provenance
        Where the rules come from, if that is known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> mirco = MIRCOClassifier(random_state=0).fit(X, y)
    >>> bool((mirco.vote_.predict_proba(X) == mirco.predict_proba(X)).all())
    True
    """

    rules: RuleSet
    votes: Floats
    answer: Answer
    totals: Floats
    fallback: Fallback = CLOSEST
    base: Floats = field(default_factory=lambda: np.zeros(0))
    fallback_votes: Floats | None = None
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        columns = len(self.answer.votes)
        if not self.base.size:
            object.__setattr__(self, "base", np.zeros(columns))
        each = (len(self.rules), columns)
        shapes = {"votes": each, "totals": (columns,), "base": (columns,), "fallback_votes": each}
        for name, shape in shapes.items():
            given = getattr(self, name)
            if given is None:
                continue
            if given.shape != shape or not np.isfinite(given).all():
                raise ValueError(f"{name} has shape {given.shape}; give finite numbers of shape {shape}.")

    def __len__(self) -> int:
        return len(self.rules)

    # The same kind of vote --------------------------------------------------------------------------------------

    def times(self, weights: Floats) -> Self:
        """The same rules, the votes of each multiplied by its weight.

        Parameters
        ----------
        weights
            One number per rule.

        Returns
        -------
        Vote
            A copy.
        """
        return replace(self, votes=addable(self.votes * weights[:, None]))

    def take(self, rules: Ints) -> Self:
        """The vote of some of the rules.

        Parameters
        ----------
        rules
            Their numbers.

        Returns
        -------
        Vote
            With the base, the answer and the fallback of this one.
        """
        distant = None if self.fallback_votes is None else self.fallback_votes[rules]
        return replace(self, rules=self.rules.take(rules), votes=self.votes[rules], fallback_votes=distant)

    # Adding votes up --------------------------------------------------------------------------------------------

    def added(self, X: Any) -> Tally:
        """The base and the votes of the rules that cover each row, added up.

        Parameters
        ----------
        X
            Rows x columns, an array or a sparse matrix with the columns of the rules.

        Returns
        -------
        Tally
            Without the votes of the fallback.
        """
        sums, fired = np.empty((len(self.base), X.shape[0])).T, np.empty(X.shape[0], dtype=np.intp)
        for rows, some, number in _added(self.rules, self.votes, X):
            sums[rows.start : rows.stop], fired[rows.start : rows.stop] = some + self.base, number
        return Tally(sums, fired)

    def tally(self, X: Any, ask: AskModel | None = None) -> Tally:
        """The votes added up, as `added` gives them, with the fallback's votes where no rule covers a row.

        Parameters
        ----------
        X
            As in `added`.
        ask
            As in `completed`.

        Returns
        -------
        Tally
            The sums of the votes for each row, and how many rules cover it.
        """
        return self.completed(self.added(X), X, ask)

    def completed(self, tally: Tally, X: Any, ask: AskModel | None = None) -> Tally:
        """The tally with the fallback's votes where no rule covers a row, and those of all data where nothing votes.

        Parameters
        ----------
        tally
            What `added` returned; it is changed.
        X
            The same rows as there.
        ask
            For a fallback that needs it: what the model predicts for some of the rows.

        Returns
        -------
        Tally
            The same, completed.
        """
        missed = np.flatnonzero(tally.missed)
        if missed.size:
            tally.sums[missed] = self.fallback(self, X[missed], None if ask is None else ask(missed))
        return self._with_votes(tally)

    def _with_votes(self, tally: Tally) -> Tally:
        """The tally with the votes of all data where nothing votes."""
        tally.sums[np.flatnonzero(self.answer.weight(tally.sums) <= 0)] = self.votes_of_all
        return tally

    def in_blocks(self, ask_for: Callable[[Tally], Array], X: Any, ask: AskModel | None = None) -> Array:
        """What is asked of the tally, made for one block of rows at a time; the fallback has all its rows at once.

        Parameters
        ----------
        ask_for
            What is made of the tally of some rows, one entry per row.
        X, ask
            As in `completed`.

        Returns
        -------
        numpy.ndarray
            One entry per row.
        """
        answers, missed = [ask_for(Tally(np.zeros((0, len(self.base))), np.zeros(0, dtype=np.intp)))], []
        for rows, sums, fired in _added(self.rules, self.votes, X):
            answers.append(ask_for(self._with_votes(Tally(sums + self.base, fired))))
            missed.append(rows.start + np.flatnonzero(fired == 0))
        answer, at = np.concatenate(answers), np.concatenate([np.zeros(0, dtype=np.intp), *missed])
        if at.size:
            answer[at] = ask_for(self.tally(X[at], None if ask is None else lambda places: ask(at[places])))
        return answer

    # Predicting -------------------------------------------------------------------------------------------------

    def decided(self, tally: Tally) -> Array:
        """The prediction for each row.

        Parameters
        ----------
        tally
            What `tally` returned.

        Returns
        -------
        numpy.ndarray
            A class or a number for each row.
        """
        return self.answer.decided(tally.sums)

    def probabilities(self, tally: Tally) -> Floats:
        """The probability of each class, rows x classes.

        Parameters
        ----------
        tally
            What `tally` returned.

        Returns
        -------
        numpy.ndarray
            The probabilities of a row add up to 1.

        Raises
        ------
        AttributeError
            If the rules predict a number.
        """
        if not isinstance(self.answer, Classes):
            raise AttributeError("these rules predict a number and have no probabilities; use predict.")
        return self.answer.probabilities(tally.sums)

    def spread(self, tally: Tally) -> Floats:
        """How far a number is from its prediction, as a standard deviation.

        For means that of the numbers of all covering rules together, within the rules and between them; where values
        add up, the root of the mean squared error of the covering rules.

        Parameters
        ----------
        tally
            What `tally` returned.

        Returns
        -------
        numpy.ndarray
            One number per row.

        Raises
        ------
        AttributeError
            If no spread is stored for the rules.
        """
        if not isinstance(self.answer, Mean) or not self.answer.squares:
            raise AttributeError("no spread is stored for these rules; use predict.")
        value, weight, square = tally.sums.T
        if self.adds_up:
            variance = square / np.maximum(tally.fired, 1)
        else:
            divisor = np.where(weight > 0, weight, 1.0)
            variance = np.maximum(square / divisor - (value / divisor) ** 2, 0.0)
        return np.asarray(self.answer.unit * np.sqrt(variance))

    def interval(self, tally: Tally, coverage: float) -> Floats:
        """The prediction and some standard deviations to both sides, as if errors were normal, rows x 2.

        Parameters
        ----------
        tally
            What `tally` returned.
        coverage
            The probability that the interval should hold the number.

        Returns
        -------
        numpy.ndarray
            The lower and the upper end.

        Raises
        ------
        ValueError
            If `coverage` is not between 0 and 1.
        AttributeError
            If no spread is stored for the rules.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage is {coverage}; it is a probability, above 0 and below 1, such as 0.9.")
        reach = float(ndtri(0.5 + coverage / 2)) * self.spread(tally)
        return np.column_stack([self.decided(tally) - reach, self.decided(tally) + reach])

    # Rows of the user's table ----------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The prediction for each row: a class, or a number.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        numpy.ndarray
            One entry per row.

        Raises
        ------
        MismatchedDataError
            If X does not have the columns that the rules use.
        """
        return self.in_blocks(self.decided, self._rows(X))

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, rows x classes.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        numpy.ndarray
            The probabilities of a row add up to 1.

        Raises
        ------
        AttributeError
            If the rules predict a number.
        """
        return self.in_blocks(self.probabilities, self._rows(X))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """An interval for each row that should hold its number; see `MIRCORegressor.predict_interval`.

        Parameters
        ----------
        X
            Rows x columns, as for `predict`.
        coverage
            The probability that the interval should hold the number.

        Returns
        -------
        numpy.ndarray
            Rows x 2: the lower and the upper end.

        Raises
        ------
        ValueError
            If `coverage` is not between 0 and 1.
        AttributeError
            If no spread is stored for the rules.
        """
        return self.interval(self.tally(self._rows(X)), coverage)

    def apply(self, X: Any) -> scipy.sparse.csr_array:
        """Which rule covers which row: a boolean sparse matrix of rows x rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        scipy.sparse.csr_array
            Booleans.

        Raises
        ------
        MismatchedDataError
            If X does not have the columns that the rules use.
        """
        return self.rules.apply(self._rows(X))

    def missed(self, X: Any) -> Bools:
        """Which rows no rule covers.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        numpy.ndarray
            One boolean per row.
        """
        return np.asarray(self.apply(X).sum(axis=1) == 0).ravel()

    def why(self, X: Any) -> pd.DataFrame:
        """For each row the rules that decided and their votes; see `MIRCOClassifier.why`.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        pandas.DataFrame
            It prints as an explanation for each row.
        """
        from rulecover.voting.why import why

        rows = self._rows(X)
        return why(self, rows, self.tally(rows))

    def _rows(self, X: Any) -> Any:
        """Rows as floats: a data frame with the columns that rules use, or an array of numbers and codes."""
        known = is_frame(X)
        if (known and not is_unnamed(X)) or (not known and hasattr(X, "columns")):  # as a frame of Dask
            return read_frame(X, self.table_inputs, self.rules.n_features)
        X = self.rules.check_columns(X)
        try:
            return X.astype(np.float64, copy=False)
        except (TypeError, ValueError) as error:
            raise MismatchedDataError(
                f"X holds a value that is not a number ({error}); encode it as in training."
            ) from error

    @cached_property
    def inputs(self) -> dict[int, Input]:
        """For each column that rules use, by number: where its values come from, parts of dates being columns."""
        return {f: input_of(self.rules.columns, f) for f in self._used}

    @cached_property
    def table_inputs(self) -> dict[int, TableInput]:
        """For each column that rules use, by number: where its values come from in the user's table."""
        return {f: table_input_of(self.rules.columns, f) for f in self._used}

    @property
    def _used(self) -> list[int]:
        used = set(self.rules.clauses.columns.tolist())
        if self.rules.paths is not None:
            used |= set(self.rules.paths.columns.tolist())
        return sorted(used)

    # What kind of vote it is ------------------------------------------------------------------------------------

    @property
    def adds_up(self) -> bool:
        """Whether the prediction is the base and what the rules add to it, and nothing else."""
        if isinstance(self.answer, Mean):
            return bool(self.base[1] == 1 and not self.votes[:, 1].any())
        return isinstance(self.answer, AddedClasses)

    @property
    def is_plain(self) -> bool:
        """Whether classes are voted for by their counts or shares, which are shown with the rules anyway."""
        seen = self.rules.evidence
        return (
            type(self.answer) is Classes
            and seen is not None
            and any(np.allclose(self.votes, plain) for plain in (seen.sums, seen.shares))
        )

    @property
    def has_own_votes(self) -> bool:
        """Whether rules vote for classes other than by their class counts."""
        return isinstance(self.answer, Classes) and not self.is_plain

    @property
    def votes_of_all(self) -> Floats:
        """The sums of votes that stand for all training data."""
        return self.answer.sums_of(self.totals[None])[0] if isinstance(self.answer, Classes) else self.totals

    @property
    def votes_at_distance(self) -> Floats:
        """The votes of each rule in the fallback, rules x columns."""
        return self.votes if self.fallback_votes is None else self.fallback_votes

    # Views ------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """What the votes that are shown are for: the classes, or the one word "value"."""
        return self.answer.votes if isinstance(self.answer, Classes) else ("value",)

    @property
    def shown_votes(self) -> Floats:
        """The base and what each rule adds, (1 + rules) x names."""
        return np.vstack([self.base, self.votes])[:, : len(self.names)]

    @property
    def support(self) -> Floats:
        """The (weighted) number of training rows that each rule covers; NaN where it is not known."""
        seen = self.rules.evidence
        return np.full(len(self), np.nan) if seen is None else seen.samples

    @property
    def shows_votes(self) -> bool:
        """Whether the votes are shown with the rules, because they do not follow from these."""
        return self.has_own_votes or (self.adds_up and isinstance(self.fallback, Default))

    def to_frame(self) -> pd.DataFrame:
        """One row per vote: its rule's text, clauses and support, and what it adds; the base first.

        Returns
        -------
        pandas.DataFrame
            In the order of the rules.
        """
        from rulecover.voting.grid import vote_frame

        return vote_frame(self)

    def _grid(self) -> Grid:
        from rulecover.voting.grid import vote_grid

        return vote_grid(self) if self.shows_votes else self.rules._grid()

    def _sentences(self) -> list[str]:
        from rulecover.voting.grid import vote_sentences

        return vote_sentences(self) if self.shows_votes else self.rules._sentences()

    def __repr__(self) -> str:
        return f"<Vote: {len(self)} {'rule' if len(self) == 1 else 'rules'}>"

    def _repr_html_(self) -> str:
        seen = self.rules.evidence
        if seen is None or not self.shows_votes:
            return self.rules._repr_html_()
        votes = list(map(tuple, self.shown_votes.tolist()))
        return notebook_table(seen.view.report(self.rules, votes[1:]), seen.view.start_in_words(votes))


def _added(rules: RuleSet, votes: Floats, X: Any) -> Iterator[tuple[range, Floats, Ints]]:
    """For each chunk of rows: its rows, the votes of the rules that cover each, added up, and their number.

    The arrays are those of the next chunk as well: new memory takes longer to write to than the sums to make.
    """
    # The last column counts: every covering rule adds 1 to it.
    counted = np.column_stack([votes, np.ones(len(votes))]).T
    kind = np.float32 if all(map(fit_float32, counted)) else np.float64
    counted, at_a_time = counted.astype(kind), 8 * max(1, _FLOATS // 8 // max(1, len(votes)))
    kept, covered = np.empty((len(counted), min(X.shape[0], CHUNK))), np.empty((len(votes), at_a_time), dtype=kind)
    for rows, bits in rules.bits_of_chunks(X):
        sums = kept[:, : len(rows)]
        for first in range(0, len(rows), at_a_time):
            n = min(at_a_time, len(rows) - first)
            covered[:, :n] = np.unpackbits(bits[:, first // 8 : (first + at_a_time) // 8], axis=1, count=n)
            sums[:, first : first + n] = counted @ covered[:, :n]
        yield rows, sums[:-1].T, sums[-1].astype(np.intp)
