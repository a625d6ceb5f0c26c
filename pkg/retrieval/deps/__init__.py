"""Dependencies (`pkg deps`): links around a name, chains, impact, cycles, unused code, imports."""
