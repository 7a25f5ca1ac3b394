"""Rows on a GPU: their leaves, sums and covers, and the votes of rules, by CUDA kernels on CuPy's arrays."""
