"""A small study that needs nothing but this folder: snippets made for it, and simulated grades."""
