import path from 'node:path';
import { appendFileSync } from 'node:fs';
import type { Direction, ObservedExchange } from '#libs/client/api-client.js';

/** A frame of a stream, or its end. */
export type RecordedFrame =
  { readonly direction: Direction; readonly text: string } | { readonly closed: number };

export const EXCHANGES_FILE = 'exchanges.jsonl';
export const FRAMES_FILE = 'frames.jsonl';

/** Of things that look alike so many are kept: load tests repeat themselves by the thousand. */
const KEPT_OF_A_KIND = 10;
/** What is longer was sent to be refused for its length. */
const LONGEST_REQUEST = 262_144;

const counts = new Map<string, number>();
/** What clients have said, by its name. */
const unanswered = new Map<string, string>();

/** Keeps the exchange for the check of the documents against reality, when the run wants that. */
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
 * Keeps a text frame of a stream. What a client says is kept once the server has obeyed it: much of what tests say is meant
 * to be refused, and no document tells of that.
 */
export function recordFrame(direction: Direction, text: string): void {
  if (process.env.EXCHANGES_DIR === undefined) return;
  const { cmd_id: cmdId, type } = namedIn(text);
  if (direction === 'client') {
    if (cmdId !== undefined) unanswered.set(cmdId, text);
    return;
  }
  keepFrame(direction, text);
  const said = cmdId === undefined ? undefined : unanswered.get(cmdId);
  if (cmdId === undefined || said === undefined) return;
  unanswered.delete(cmdId);
  if (type !== 'reject') keepFrame('client', said);
}

/** Keeps the code with which the other side closed a stream. */
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

/** Ids in a path tell calls apart that are alike. */
function masked(asked: string): string {
  return asked.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '*');
}

/** What is left of JSON when values are taken out: fields, words and kinds. */
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
