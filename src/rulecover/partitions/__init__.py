"""Rows in many places: parts that know their rows, and algorithms that know only sums over them."""
