"""From grades and scores to ground truth, agreement, tables and figures. Needs no Django: `python -m analysis`."""
