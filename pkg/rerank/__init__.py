"""Choose among candidate answers by running them in a sandbox and comparing what they do (P-23 to P-27)."""
