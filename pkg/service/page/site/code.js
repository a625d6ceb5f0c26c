// Show highlighted source code with line numbers and marks at calls.

import { colourLines } from './highlight.js';
import { count, make, spell } from './words.js';

const SHOWN_AT_ONCE = 600; // lines; further ones are shown on request
const LONGEST_LINE = 2000; // characters shown; longer lines are generated code

// Restore the indentation of the first line: the text of a definition or block starts at its first token.
export function indentFirst({ content, start_col: column }) {
  return (/\n\t/.test(content) ? '\t' : ' ').repeat(column ?? 0) + content;
}

// marks: line -> [{ names, href, title, isStop }]. cuts: [first, last] lines struck through. mark: marks words in a text.
export function showCode(content, firstLine, { marks = new Map(), cuts = [], mark = null, label = 'Source code' } = {}) {
  const lines = colourLines(spell(content).split('\n').map((line) => line.slice(0, LONGEST_LINE)).join('\n'));
  const list = make('ol', { className: 'code', tabIndex: 0, 'aria-label': label });
  const more = make('button', { type: 'button', className: 'more' });
  let shown = 0;
  const showMore = () => {
    list.append(...lines.slice(shown, shown + SHOWN_AT_ONCE).map((pieces, number) => showLine(pieces, firstLine + shown + number, marks, cuts, mark)));
    shown = Math.min(lines.length, shown + SHOWN_AT_ONCE);
    more.hidden = shown >= lines.length;
    more.textContent = `Show more: ${count(lines.length - shown, 'line is', 'lines are')} left`;
  };
  more.addEventListener('click', showMore);
  showMore();
  return [list, more];
}

function showLine(pieces, number, marks, cuts, markText) {
  const found = marks.get(number) ?? [];
  const used = new Set();
  const inside = pieces.map(([text, kind]) => {
    const mark = ['name', 'value'].includes(kind) ? found.find((each) => each.names.includes(text)) : undefined;
    if (mark) used.add(mark);
    if (mark?.isStop) return make('span', { className: 'stop', title: mark.title }, text);
    if (mark?.href) return make('a', { className: 'call', href: mark.href, title: mark.title }, text);
    const shown = markText ? markText(text) : text;
    return kind && kind !== 'name' ? make('span', { className: kind }, shown) : shown;
  });
  const isCut = cuts.some(([first, last]) => first <= number && number <= last);
  const kinds = [found.some((each) => !each.isStop) ? 'calls' : '', found.some((each) => each.isStop) ? 'stops' : '', isCut ? 'cut' : ''].filter(Boolean).join(' ');
  const told = found.filter((each) => !used.has(each)).map((each) => each.title).join('; ');
  const text = isCut ? make('del', {}, inside) : make('span', { className: 'text' }, inside.length ? inside : make('br')); // an empty line is copied too
  return make('li', { className: kinds, title: told || undefined }, make('span', { className: 'gutter', 'aria-hidden': 'true' }, String(number)), text, '\n');
}
