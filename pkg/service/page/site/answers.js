// Ask the graph: over HTTP where the page is served, else the answers that were written into this file.

import { find } from './words.js';

const written = find('answers') ? JSON.parse(find('answers').textContent) : null;

export const isServed = written === null;
export const start = written ? written.start : null;

export class Unanswered extends Error {}

// The name of a question: its operation and arguments, sorted, as who wrote the file has named it.
const nameQuestion = (operation, args) => JSON.stringify([operation, Object.fromEntries(Object.entries(args).sort(([a], [b]) => a < b ? -1 : 1))]);

const remembered = new Map(); // what was asked lately: going back shows it at once
const MOST_REMEMBERED = 200;

export function isAnswered(operation, args) {
  return isServed || nameQuestion(operation, args) in written.answers;
}

// Give the lines of an answer; an Unanswered tells why there is none.
export async function ask(operation, args, signal) {
  const question = nameQuestion(operation, args);
  if (!isServed) {
    if (question in written.answers) return written.answers[question];
    throw new Unanswered('This file does not hold that: it shows what was asked for when it was written. All of the graph is shown by pkg serve --open.');
  }
  if (!remembered.has(question)) {
    const asked = fetchLines(operation, args, signal); // who asks the same meanwhile waits for the same answer
    remembered.set(question, asked);
    asked.catch(() => remembered.delete(question));
    if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value);
  }
  return remembered.get(question);
}

// Ask for what will be needed, without waiting for it; what goes wrong is told when it is needed.
export function askAhead(operation, args) {
  if (isServed) ask(operation, args).catch(() => {});
}

async function fetchLines(operation, args, signal) {
  let response;
  try {
    response = await fetch(`v1/${operation}`, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify(args), credentials: 'same-origin', signal });
  } catch (fault) {
    if (fault.name === 'AbortError') throw fault;
    throw new Unanswered('pkg serve does not answer any more. Start it again, and open its new address.');
  }
  const answer = await response.json();
  if (!response.ok) throw new Unanswered(answer.detail ?? `pkg serve answers ${response.status}`);
  sawFreshness(answer.freshness);
  return answer.lines;
}

// How far answers are about the code as it is now: said on top of every view.
let listener = () => {};
let generation = null;
export const onFreshness = (listen) => { listener = listen; };
function sawFreshness(freshness) {
  if (generation !== null && freshness.generation !== generation) remembered.clear(); // it was built anew
  generation = freshness.generation;
  listener(freshness);
}
