"""Checks of the tree that need no build."""
