"""Small data files that metrics read, each beside the script that made it."""
