"""The errors by which a model may be refused: each is a sentence that was thought of, and any other is a fault."""

from __future__ import annotations

import re

#: Parts of the sentences, and why such a case can come up.
EXPECTED: dict[str, str] = {
    r"^ValueError: no rule of up to \d+ uses .*, which is required: there is no allowed node": "a column at random",
    r"^ValueError: BaseClassifier in AdaBoostClassifier ensemble is worse than random": "labels by chance",
    r"pricing='binned' needs XGBoost 3\.1 or later": "older versions of it",
    r"^AttributeError: property 'feature_names_in_' of 'LGBM.*has no setter": "older LightGBM, given a frame of polars",
    r"^Refused: .* has a character that no XML file can hold": "a name that was drawn, in PMML",
    r"^Refused: .* rule 0 of .* covers no row of": "the rule that is to be kept, on a column at random",
    r"^Refused: .* names '.*', but there is no such column to use": "a column that the encoder leaves out",
    r"^Refused: .*kept\.txt, line 1, is not a rule on the columns of .* in '.* > 0\.25'": "a column it leaves out",
    r"^Refused: .* holds neither numbers nor dates, which --require, --rising and --falling": "true and false",
    r"^Refused: .*no rule of up to \d+ uses .*, which is required": "a column at random",
    r"^Refused: .*recall is 0\.8, but .* is the most; the other rows have probability 0": "few rows in folds",
    r"^Refused: .*every probability of the class is 0; no threshold finds any row": "few rows in folds",
    r"no column is left to (make rules of|explain .* by): .* every value is the same": "few rows, all alike",
    r"^Refused: .* has more than one column named": "names in a file of text that differ by spaces around them",
    # A scaler that saw next to nothing makes more of it than 32 bits hold.
    r"(one-hot|scaled) pipeline, .*\nValueError: Input X contains infinity or a value too large": "all sizes",
    r"^ValueError: R² is not defined in any fold, perhaps because none has .* more than one row": "two or three rows",
    r"^ValueError: Found array with 1 sample.* a minimum of 2 is required by LGBM": "two rows, in a fold one",
    r"lightgbm forest, .*\nDamagedModelError: .* the value of a leaf is not finite": "one class in what a tree drew",
    r"^(ValueError|Refused): .*forbidden names every column, so that there is nothing": "the only column, at random",
    r"explain .*hist gradient boosting, .*\nValueError: window shape cannot be larger": "no values",
    # Trees of scikit-learn refuse it, too.
    r"ValueError: buffer source array is read-only": "gaps in float32, in memory that is not to be written to",
    r"^CatBoostError: .*All train targets are equal": "numbers that are rounded to one",
    r"rules of .*\nUncoveredSamplesError: (in a fold, .*)?none of the \d+ samples is covered": "few rules or rows",
    r"^CatBoostError: .*All features are either constant or ignored": "few rows, in a fold fewer still",
}


def refusal(error: Exception, of: str = "") -> str | None:
    """Which of the expected sentences an error has; ``None`` if it has none of them, and so is a fault.

    Parameters
    ----------
    error
        What was raised.
    of
        The name of the trial.
    """
    said = f"{of}\n{type(error).__name__}: {error}"
    return next((pattern for pattern in EXPECTED if re.search(pattern, said, re.MULTILINE)), None)
