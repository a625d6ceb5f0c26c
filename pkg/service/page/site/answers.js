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
  const question = nameQuestion(operation, args), view = shown;
  signal?.throwIfAborted();
  if (!isServed) {
    if (question in written.answers) return tell(view, written.answers[question], readStale(written.answers[question]));
    throw new Unanswered('This file does not hold that: it shows what was asked for when it was written. All of the graph is shown by pkg serve --open.');
  }
  const { lines, stale } = await (remembered.get(question) ?? remember(question, operation, args, signal));
  signal?.throwIfAborted();
  return tell(view, lines, stale);
}

// Who asks the same meanwhile waits for the same answer; once that is stopped or has failed, it is asked anew.
function remember(question, operation, args, signal) {
  const asked = fetchAnswer(operation, args, signal);
  const forget = () => { if (remembered.get(question) === asked) remembered.delete(question); };
  signal?.addEventListener('abort', forget);
  asked.catch(forget).finally(() => signal?.removeEventListener('abort', forget));
  remembered.set(question, asked);
  if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value);
  return asked;
}

// Ask for what will be needed, without waiting for it; what goes wrong is told when it is needed.
export function askAhead(operation, args) {
  if (isServed) ask(operation, args).catch(() => {});
}

async function fetchAnswer(operation, args, signal) {
  let response;
  try {
    response = await fetch(`v1/${operation}`, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify(args), credentials: 'same-origin', signal });
  } catch (fault) {
    if (fault.name === 'AbortError') throw fault;
    throw new Unanswered('pkg serve does not answer any more. Start it again, and open its new address.');
  }
  const answer = await response.json();
  if (!response.ok) throw new Unanswered(answer.detail ?? `pkg serve answers ${response.status}`);
  sawGraph(answer.freshness);
  return { lines: answer.lines, stale: answer.freshness.stale ?? [] };
}

// How far what is shown is about the code as it is now: of the whole graph, and of the answers of the view.
let listener = () => {};
let graph = written?.answers[nameQuestion('status', {})]?.[0] ?? {};
let shown = new Map(); // stale files of the view, by source and path
export const onFreshness = (listen) => { listener = listen; };
export function beginView() {
  shown = new Map();
}
export function tellFreshness() {
  listener({ ...graph, stale: [...shown.values()] });
}

// Give lines to the view that asked; an answer that comes too late tells nothing of what is shown by then.
function tell(view, lines, stale) {
  for (const each of stale) view.set(`${each.source}\n${each.path}`, each);
  if (view === shown) tellFreshness();
  return lines;
}
const readStale = (lines) => lines.flatMap((line) => line.stale ?? []);

function sawGraph(freshness) {
  const nameGraph = ({ graph: name, generation }) => name ?? generation;
  if (nameGraph(graph) !== undefined && nameGraph(freshness) !== nameGraph(graph)) remembered.clear(); // it was built anew
  graph = freshness;
}
