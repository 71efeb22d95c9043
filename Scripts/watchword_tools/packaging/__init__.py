"""What Scripts/package writes besides the files of the project: the documents with their links, and SPDX lists."""
