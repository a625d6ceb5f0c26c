"""The commands of the laboratory, one in each module."""
