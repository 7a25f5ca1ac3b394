"""Rules counted and proved on a table where it lies: in memory, in a file, or in a database."""
