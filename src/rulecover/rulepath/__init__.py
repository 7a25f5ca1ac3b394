"""Rule sets of every size from one model: forward choice among the nodes of its trees, votes refitted by ridge."""
