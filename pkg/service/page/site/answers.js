// Questions to the graph: sent over HTTP if the page is served, else answered from the answers in this file.

import { find } from './words.js';

const written = find('answers') ? JSON.parse(find('answers').textContent) : null;

export const isServed = written === null;
export const start = written ? written.start : null;

export class Unanswered extends Error {}

// The key of a question: its operation and sorted arguments, as page_file.py builds it.
const nameQuestion = (operation, args) => JSON.stringify([operation, Object.fromEntries(Object.entries(args).sort(([a], [b]) => a < b ? -1 : 1))]);

const remembered = new Map(); // recent answers, so that going back is immediate
const MOST_REMEMBERED = 200;

export function isAnswered(operation, args) {
  return isServed || nameQuestion(operation, args) in written.answers;
}

// Return the lines of an answer; throws Unanswered with the reason if there is none.
export async function ask(operation, args, signal) {
  const question = nameQuestion(operation, args), view = shown;
  signal?.throwIfAborted();
  if (!isServed) {
    if (question in written.answers) return tell(view, written.answers[question], readStale(written.answers[question]));
    throw new Unanswered('This file does not include that part of the graph. Run pkg serve --open to see the whole graph.');
  }
  const { lines, stale } = await (remembered.get(question) ?? remember(question, operation, args, signal));
  signal?.throwIfAborted();
  return tell(view, lines, stale);
}

// Share one request among equal questions; after an abort or a failure the next question sends a new one.
function remember(question, operation, args, signal) {
  const asked = fetchAnswer(operation, args, signal);
  const forget = () => { if (remembered.get(question) === asked) remembered.delete(question); };
  signal?.addEventListener('abort', forget);
  asked.catch(forget).finally(() => signal?.removeEventListener('abort', forget));
  remembered.set(question, asked);
  if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value);
  return asked;
}

// Prefetch an answer; a failure is reported when the answer is used.
export function askAhead(operation, args) {
  if (isServed) ask(operation, args).catch(() => {});
}

async function fetchAnswer(operation, args, signal) {
  let response;
  try {
    response = await fetch(`v1/${operation}`, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify(args), credentials: 'same-origin', signal });
  } catch (fault) {
    if (fault.name === 'AbortError') throw fault;
    throw new Unanswered('pkg serve does not answer. Start it again, and open its new address.');
  }
  const answer = await response.json();
  if (!response.ok) throw new Unanswered(answer.detail ?? `pkg serve answers ${response.status}`);
  sawGraph(answer.freshness);
  return { lines: answer.lines, stale: answer.freshness.stale ?? [] };
}

// Freshness of the graph and of the answers in the view.
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

// Return lines to the view that requested them; a late answer does not change the freshness of a later view.
function tell(view, lines, stale) {
  for (const each of stale) view.set(`${each.source}\n${each.path}`, each);
  if (view === shown) tellFreshness();
  return lines;
}
const readStale = (lines) => lines.flatMap((line) => line.stale ?? []);

function sawGraph(freshness) {
  const nameGraph = ({ graph: name, generation }) => name ?? generation;
  if (nameGraph(graph) !== undefined && nameGraph(freshness) !== nameGraph(graph)) remembered.clear(); // it was rebuilt
  graph = freshness;
}
