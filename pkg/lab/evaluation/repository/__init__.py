"""A benchmark of masked functions of a repository, judged by the tests of the repository itself."""
