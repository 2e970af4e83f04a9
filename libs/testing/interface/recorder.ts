import path from 'node:path';
import { appendFileSync } from 'node:fs';
import type { Direction, ObservedExchange } from '#libs/client/api-client.js';

/** A frame of a stream, or the code of its end. */
export type RecordedFrame =
  { readonly direction: Direction; readonly text: string } | { readonly closed: number };

export const EXCHANGES_FILE = 'exchanges.jsonl';
export const FRAMES_FILE = 'frames.jsonl';

/** How many similar entries are kept: load tests repeat the same requests thousands of times. */
const KEPT_OF_A_KIND = 10;
/** Longer requests are sent to be refused for their length, and are not recorded. */
const LONGEST_REQUEST = 262_144;

const counts = new Map<string, number>();
/** Commands of clients by their id, until they are answered. */
const unanswered = new Map<string, string>();

/** Records the exchange for the check of the documents, if the run asks for it. */
export function recordExchange(exchange: ObservedExchange): void {
  const { method, path: asked, status, headers, body, requestBody = '' } = exchange;
  const kind = `${method} ${masked(asked)} ${status} ${skeletonOf(body)} ${skeletonOf(requestBody)}`;
  if (!isWanted(kind)) return;
  const { authorization, ...others } = exchange.requestHeaders;
  const requestHeaders = authorization === undefined ? others : { ...others, authorization: 'Bearer ...' };
  const sent = requestBody === '' || requestBody.length > LONGEST_REQUEST ? {} : { requestBody };
  append(EXCHANGES_FILE, { method, path: asked, requestHeaders, ...sent, status, headers, body });
}

/**
 * Records a text frame of a stream. A client's frame is recorded once the server has accepted it: tests send many frames that are
 * meant to be refused and are not documented.
 */
export function recordFrame(direction: Direction, text: string): void {
  if (process.env.EXCHANGES_DIR === undefined) return;
  const { cmd_id: cmdId, type } = namedIn(text);
  if (direction === 'client') {
    if (cmdId !== undefined) unanswered.set(cmdId, text);
    return;
  }
  keepFrame(direction, text);
  const command = cmdId === undefined ? undefined : unanswered.get(cmdId);
  if (cmdId === undefined || command === undefined) return;
  unanswered.delete(cmdId);
  if (type !== 'reject') keepFrame('client', command);
}

/** Records the code with which the other side closed a stream. */
export function recordClose(code: number): void {
  if (isWanted(`closed ${code}`)) append(FRAMES_FILE, { closed: code });
}

function keepFrame(direction: Direction, text: string): void {
  if (isWanted(`${direction} ${skeletonOf(text)}`)) append(FRAMES_FILE, { direction, text });
}

function namedIn(text: string): { readonly cmd_id?: string; readonly type?: string } {
  try {
    return (JSON.parse(text) ?? {}) as { readonly cmd_id?: string; readonly type?: string };
  } catch {
    return {};
  }
}

function isWanted(kind: string): boolean {
  if (process.env.EXCHANGES_DIR === undefined) return false;
  const count = (counts.get(kind) ?? 0) + 1;
  counts.set(kind, count);
  return count <= KEPT_OF_A_KIND;
}

function append(file: string, entry: ObservedExchange | RecordedFrame): void {
  appendFileSync(path.join(process.env.EXCHANGES_DIR ?? '.', file), `${JSON.stringify(entry)}\n`);
}

/** Removes ids, which only tell similar calls apart. */
function masked(asked: string): string {
  return asked.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '*');
}

/** The structure of a JSON text without its values: fields, words and kinds. */
function skeletonOf(text: string): string {
  try {
    return JSON.stringify(boned(JSON.parse(text)));
  } catch {
    return text.slice(0, 64);
  }
}

const WORD = /^[A-Z][A-Z_]*$|^[a-z_.]{1,40}$/;

function boned(value: unknown): unknown {
  if (typeof value === 'string') return WORD.test(value) ? value : '';
  if (typeof value === 'number') return 0;
  if (Array.isArray(value)) return [...new Set(value.map((element) => JSON.stringify(boned(element))))];
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, boned(inner)]));
}
