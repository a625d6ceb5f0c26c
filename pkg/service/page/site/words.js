// Build elements from texts. Code and its names are untrusted: they are inserted as text nodes only.

// Invisible and bidirectional characters can hide what code does, so they are shown as Python escapes:
// controls, formats, and blank letters and marks such as fillers, joiners and variation selectors.
const HIDDEN = /(?![\t\n])[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

export const find = (id) => document.getElementById(id);

export const spell = (text) => String(text).replace(/\r\n/g, '\n').replace(HIDDEN, (each) => {
  const code = each.codePointAt(0), digits = code.toString(16);
  if (code < 256) return '\\x' + digits.padStart(2, '0');
  return code < 65536 ? '\\u' + digits.padStart(4, '0') : '\\U' + digits.padStart(8, '0');
});

// Build an element: an option with a hyphen is an attribute, `on` a table of listeners, any other a property.
export function make(tag, options = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    if (name === 'on') for (const [kind, listener] of Object.entries(value)) made.addEventListener(kind, listener);
    else if (name.includes('-') || name === 'role') made.setAttribute(name, spell(value));
    else made[name] = name === 'title' ? spell(value) : value;
  }
  made.append(...inside.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false)
    .map((each) => typeof each === 'object' ? each : spell(each)));
  return made;
}

export const count = (number, thing, things = thing + 's') => `${number.toLocaleString('en')} ${number === 1 ? thing : things}`;
