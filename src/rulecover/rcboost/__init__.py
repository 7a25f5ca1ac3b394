"""Boosting by rule generation: Algorithm 2 of the paper, and its seams."""
