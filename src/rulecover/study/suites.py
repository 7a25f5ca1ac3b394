"""Which methods a study of the command line runs."""

_MIRCO = ("DT", "MIRCO")
_RCBOOST = ("MIRCO", "ADA", "GB", "RCB")  # the forest of Table S.3 is the one that MIRCO covers
_PEERS = ("HGB", "XGBoost", "LightGBM", "EBM", "RUX", "RUG", "RuleFit", "FIGS", "RIPPER")

SUITES = {
    "mirco": _MIRCO,
    "rcboost": _RCBOOST,
    "peers": (*_MIRCO, "RCB", *_PEERS),
    "all": (*_MIRCO, "ADA", "GB", "RCB", *_PEERS),
}
