"""Run a task on many items in this process, in other processes, or on a Ray cluster; results are files by content."""
