"""The end of every game of tic-tac-toe: data with eight perfect rules."""

from __future__ import annotations

import numpy as np
import pandas as pd

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def tic_tac_toe() -> tuple[pd.DataFrame, np.ndarray]:
    """The 958 boards on which a game can end, x moving first, and whether x has won."""
    ends: set[str] = set()

    def has_won(board: list[str], player: str) -> bool:
        return any(all(board[square] == player for square in line) for line in LINES)

    def play(board: list[str], player: str) -> None:
        if has_won(board, "x") or has_won(board, "o") or " " not in board:
            ends.add("".join(board))
            return
        for square in range(9):
            if board[square] == " ":
                board[square] = player
                play(board, "o" if player == "x" else "x")
                board[square] = " "

    play([" "] * 9, "x")
    boards = sorted(ends)
    columns = {f"{player}{s}": [float(board[s] == player) for board in boards] for s in range(9) for player in "xo"}
    return pd.DataFrame(columns), np.array([has_won(list(board), "x") for board in boards])
