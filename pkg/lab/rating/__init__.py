"""Let people write and rate pairs of question and answer on a page of this machine (Q-03, Q-21)."""
