"""Evaluation on masked functions of a repository, scored by the tests of the repository itself."""
