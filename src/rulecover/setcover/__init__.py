"""Weighted set covering; a rule is a column here, and nothing is known of trees."""

from rulecover.setcover.bounds import Bound, lp_bound
from rulecover.setcover.certificate import verify
from rulecover.setcover.exact import Exact
from rulecover.setcover.greedy import Greedy
from rulecover.setcover.problem import Branch, Certificate, Cover, CoveringProblem, Status
from rulecover.setcover.search import Search
from rulecover.setcover.solver import CoverSolver

__all__ = [
    "Bound",
    "Branch",
    "Certificate",
    "Cover",
    "CoverSolver",
    "CoveringProblem",
    "Exact",
    "Greedy",
    "Search",
    "Status",
    "lp_bound",
    "verify",
]
