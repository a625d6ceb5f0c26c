// The links of a symbol, and the side on which each relation is shown.

export const NEEDED_BY = ['callers', 'importers', 'subclasses', 'overridden by', 'readers'];
export const NEEDS = ['callees', 'module callees', 'bases', 'overrides', 'imports'];

// The note of a link: its rule, and the definition inside of the symbol at which it starts or ends.
const noteOf = (each) => [each.rule, each.inside && `${NEEDED_BY.includes(each.relation) ? 'to' : 'from'} ${each.inside} inside it`].filter(Boolean).join(', ');

// Merge links of the same relation to the same place into one entry with all lines.
export function joinLinks(lines) {
  const found = new Map();
  for (const each of lines) {
    if (each.type !== 'dependency' || each.relation === 'unresolved calls') continue;
    const key = `${each.relation} ${each.id}`, known = found.get(key);
    if (!known) found.set(key, { ...each, lines: [...each.lines], rules: [noteOf(each)] });
    else {
      known.lines = [...new Set([...known.lines, ...each.lines])].sort((a, b) => a - b);
      known.rules.push(noteOf(each));
      if (each.confidence === 'certain') known.confidence = 'certain';
    }
  }
  return [...found.values()];
}
