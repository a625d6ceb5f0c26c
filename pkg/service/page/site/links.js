// The links of a symbol as the graph tells them, and on which side they stand.

export const NEEDED_BY = ['callers', 'importers', 'subclasses', 'overridden by', 'readers'];
export const NEEDS = ['callees', 'module callees', 'bases', 'overrides', 'imports'];

// Put links of the same kind with the same place together: one entry with all its lines.
export function joinLinks(lines) {
  const found = new Map();
  for (const each of lines) {
    if (each.type !== 'dependency' || each.relation === 'unresolved calls') continue;
    const key = `${each.relation} ${each.id}`, known = found.get(key);
    if (!known) found.set(key, { ...each, lines: [...each.lines], rules: [each.rule] });
    else {
      known.lines = [...new Set([...known.lines, ...each.lines])].sort((a, b) => a - b);
      known.rules.push(each.rule);
      if (each.confidence === 'certain') known.confidence = 'certain';
    }
  }
  return [...found.values()];
}
