"""A reader as another library would bring it."""

READS = ("Stump",)


def read(model):
    return f"the trees of a {type(model).__name__.rpartition('.')[-1]}"
