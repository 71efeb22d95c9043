"""The files in packages that Scripts/package writes itself: the documents with their links, and SPDX lists."""
