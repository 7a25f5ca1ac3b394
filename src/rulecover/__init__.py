"""Turn tree ensembles into a few rules that people can read, trust and ship."""

__version__ = "0.1.0.dev0"
