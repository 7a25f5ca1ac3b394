"""What a method is, and the table of all methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import nan
from typing import Any

from rulecover.exceptions import StudyError
from rulecover.study.folds import Fold


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model, and what the tables show of it in addition to its scores.

    Parameters
    ----------
    model
        Has ``predict``, which returns class numbers. Where it has ``predict_proba`` (and ``classes_``, if its
        columns are not all classes in order) or ``missed``, log loss or missed rows are recorded too.
    fit_seconds
        The time of the last fit, without the tuning.
    rules, clauses
        The number of its rules (or leaves, or terms) and the mean number of clauses in one.
    figures
        More to record: settings that were chosen, calls that were made.
    """

    model: Any
    fit_seconds: float = nan
    rules: float = nan
    clauses: float = nan
    figures: Mapping[str, float] = field(default_factory=dict)


def fitted(model: Any, fold: Fold, **more: Any) -> Fitted:
    """The model, fitted on the training part of a fold and timed.

    Parameters
    ----------
    model
        Anything with a method `fit`.
    fold
        Its training part is used.
    **more
        Other fields of `Fitted`.

    Returns
    -------
    Fitted
        The model and the seconds that it took.
    """
    start = time.perf_counter()
    model.fit(fold.X_train, fold.y_train)
    return Fitted(model, time.perf_counter() - start, **more)


@dataclass(frozen=True, eq=False)
class Method:
    """A named way to learn from a fold.

    Parameters
    ----------
    name
        The name that selects it.
    learn
        From a fold to fitted models, by the name they have in the tables.
    models
        These names.
    requires
        Packages that must be importable.
    extra
        The extra of rulecover that brings them.
    alone
        Whether it runs in processes that no other method shares, so that its crashes harm no other.
    two_classes
        Whether it supports only two classes; other data sets are left out.
    """

    name: str
    learn: Callable[[Fold], Mapping[str, Fitted]]
    models: tuple[str, ...]
    requires: tuple[str, ...] = ()
    extra: str = ""
    alone: bool = False
    two_classes: bool = False

    def fit(self, fold: Fold) -> Mapping[str, Fitted]:
        """The models that the method promises, fitted on the training part of a fold.

        Parameters
        ----------
        fold
            Only its training part may be used.

        Returns
        -------
        mapping
            From the names of the models to the models.

        Raises
        ------
        TypeError
            If the method gives other models than it was registered with.
        """
        made = self.learn(fold)
        if not isinstance(made, Mapping) or set(made) != set(self.models):
            what = f"models {', '.join(map(str, made))}" if isinstance(made, Mapping) else f"a {type(made).__name__}"
            raise TypeError(
                f"the method {self.name!r} gave {what}; it should give a dictionary with a Fitted for each of "
                f"{', '.join(self.models)}, as it was registered."
            )
        return made

    @property
    def installed(self) -> bool:
        """Whether all packages that it requires are installed."""
        return all(find_spec(package) is not None for package in self.requires)


#: Every method by name: the paper's, the peers, and those that users register.
METHODS: dict[str, Method] = {}


def register(
    name: str,
    learn: Callable[[Fold], Mapping[str, Fitted]],
    *,
    models: Sequence[str] | None = None,
    requires: Sequence[str] = (),
    extra: str = "",
    alone: bool = True,
    two_classes: bool = False,
) -> Method:
    """Registers a method, in place of one of the same name; see `Method`.

    Parameters
    ----------
    name, learn, requires, extra, two_classes
        As in `Method`.
    models
        The names of the models that `learn` returns; by default it returns one, of the name of the method.
    alone
        As in `Method`. If not, a crash of compiled code may end the whole study where it runs in one process.

    Returns
    -------
    Method
        As it is in `METHODS`.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> def nearest(fold):
    ...     return {"kNN": fitted(KNeighborsClassifier(), fold)}
    >>> register("kNN", nearest).models
    ('kNN',)
    >>> del METHODS["kNN"]
    """
    method = Method(name, learn, tuple(models or (name,)), tuple(requires), extra, alone, two_classes)
    METHODS[name] = method
    return method


def methods_called(names: Sequence[str]) -> list[Method]:
    """The methods of these names, if all are known and can be imported."""
    if unknown := [name for name in names if name not in METHODS]:
        raise StudyError(f"there is no method {', '.join(map(repr, unknown))}; there are {', '.join(METHODS)}.")
    methods = [METHODS[name] for name in dict.fromkeys(names)]
    if absent := [method for method in methods if not method.installed]:
        extras = ",".join(sorted({method.extra for method in absent}))
        raise StudyError(
            f"{', '.join(method.name for method in absent)} cannot run without packages that are not installed: "
            f"pip install 'rulecover[{extras}]', or name the other methods with --methods."
        )
    return methods
