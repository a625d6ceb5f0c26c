def add_durations(first: str, second: str) -> str:
    """Add two durations that are written as hours and minutes.

    >>> add_durations("1:30", "0:45")
    '2:15'
    >>> add_durations("0:05", "0:05")
    '0:10'
    """
