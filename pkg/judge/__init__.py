"""Judging answers: by a text model or by what can be counted, with a check of the judge itself."""
