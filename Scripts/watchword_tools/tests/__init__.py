"""The unit tests of the packages in watchword_tools."""
