"""Every error and warning of our own; each message names the thing, the value and the way out.

They are subclasses of the errors that scikit-learn users expect, so that ``except ValueError`` keeps working.
"""


class RulecoverError(Exception):
    """The root of all errors of this package."""


class UnreadableModelError(RulecoverError, TypeError):
    """A model that is not an ensemble of trees, or of a kind that no reader knows."""


class DamagedModelError(RulecoverError, ValueError):
    """A model file that is truncated, damaged, or not of a format that can be read."""


class MismatchedDataError(RulecoverError, ValueError):
    """Data that do not fit the model: other features, labels it never saw, values it has no route for."""


class MemoryLimitError(RulecoverError, ValueError):
    """A memory limit below what must be kept, such as what fitting keeps of each row."""


class RuleTextError(RulecoverError, ValueError):
    """The text of a rule that does not parse, or that no row can satisfy; the message shows the position."""


class UncoveredSamplesError(RulecoverError, ValueError):
    """A covering problem in which some sample is not covered by any rule."""


class InvalidCertificateError(RulecoverError, ValueError):
    """A cover or a bound that fails the check."""


class SolverError(RulecoverError, RuntimeError):
    """An LP or MIP engine that gave no usable result."""


class LostClusterError(RulecoverError, RuntimeError):
    """A cluster that is gone, or whose workers are lost faster than they can be replaced."""


class UnknownOptionError(RulecoverError, TypeError):
    """An option that a function does not have."""


class StudyError(RulecoverError, ValueError):
    """A study that cannot be run as asked: data, methods or a results file that are not what they should be."""


class CheckpointError(RulecoverError, ValueError):
    """A checkpoint from which this work cannot go on: damaged, or of other data, settings, versions or work."""


class ExportError(RulecoverError, ValueError):
    """A model that cannot be expressed in the requested format."""


class InvalidModelFileError(RulecoverError, ValueError):
    """A file of rules that is damaged, wrongly edited by hand, or of an unknown version."""


class MissingExtraError(RulecoverError, ImportError):
    """A package that an optional part needs and that is not installed."""


class RulecoverWarning(UserWarning):
    """Something about data or rules that people should know before they trust them; the message has the way out."""


class CheckpointWarning(RulecoverWarning):
    """A checkpoint that cannot be written; the work goes on without it."""


class CutShortWarning(RulecoverWarning):
    """Work that a time limit ended early; the message has what was done until then."""


class AdviceWarning(RulecoverWarning):
    """Advice on data or rules, which the command line gives in words of its own."""
