"""Judging answers, by a text model or by what can be counted, with a check of the judge itself.

A judge is asked for by a command of its own; nothing that chooses among answers asks one (A-38).
"""
