// Make elements out of texts. Code and its names come from anywhere: they are only ever put into text nodes.

// Control characters, and marks that turn the direction of writing: shown spelled, for they can hide what code does.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const find = (id) => document.getElementById(id);

export const spell = (text) => String(text).replace(/\r\n/g, '\n').replace(HIDDEN, (each) => {
  const code = each.codePointAt(0);
  return code < 256 ? '\\x' + code.toString(16).padStart(2, '0') : '\\u' + code.toString(16).padStart(4, '0');
});

// Make an element: what has a hyphen is an attribute, on is a table of listeners, all else is a property.
export function make(tag, options = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    if (name === 'on') for (const [kind, listener] of Object.entries(value)) made.addEventListener(kind, listener);
    else if (name.includes('-') || name === 'role') made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...inside.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false)
    .map((each) => typeof each === 'object' ? each : spell(each)));
  return made;
}

export const count = (number, thing, things = thing + 's') => `${number.toLocaleString('en')} ${number === 1 ? thing : things}`;
