"""Attention to the nearest keys, as in Unlimiformer, for long prompts (U-11, A-29)."""
