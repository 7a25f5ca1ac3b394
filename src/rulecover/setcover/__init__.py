"""Weighted set covering: rules are columns here, and trees unheard of."""

from rulecover.setcover.certificate import verify
from rulecover.setcover.greedy import Greedy
from rulecover.setcover.problem import Branch, Certificate, Cover, CoveringProblem, Status
from rulecover.setcover.solver import CoverSolver

__all__ = ["Branch", "Certificate", "Cover", "CoverSolver", "CoveringProblem", "Greedy", "Status", "verify"]
