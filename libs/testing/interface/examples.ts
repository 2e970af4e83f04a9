import path from 'node:path';
import { ANYWHERE, type OperationExamples } from '#libs/edge/documents/about.js';
import type { OpenApi, OpenApiOperation, Response } from '#libs/edge/documents/openapi-types.js';
import { documentedResponse, HttpRoutes } from './http-routes.js';
import type { ObservedExchange } from '#libs/client/api-client.js';
import { EXCHANGES_FILE, FRAMES_FILE, type RecordedFrame } from './recorder.js';
import { existsSync, readFileSync } from 'node:fs';

/** Examples up to this length are preferred, so that a reader can take them in. */
const LONGEST = 4_096;
/** Longer replies are not used as examples. */
const TOO_LONG = 32_768;

export type StreamExamples = Readonly<Record<string, unknown>>;

/**
 * One recorded reply for every status of every operation, unchanged: the one with most fields in the shortest text. Replies that
 * the tour does not have, mostly refusals, come from the other tests.
 */
export function httpExamples(
  document: OpenApi,
  tour: Recording,
  others: Recording,
): Readonly<Record<string, OperationExamples>> {
  const routes = new HttpRoutes(document);
  const ofTour = new Set(tour.exchanges);
  const seen = new Map<string, ObservedExchange[]>();
  for (const exchange of [...tour.exchanges, ...others.exchanges]) {
    if (exchange.method === 'HEAD' || exchange.body.length > TOO_LONG) continue;
    const owner = ownerOf(document, routes.find(exchange), exchange.status);
    if (owner !== undefined) seen.set(owner, [...(seen.get(owner) ?? []), exchange]);
  }
  const named = [...seen].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(named.map(([owner, own]) => [owner, examplesOf(own, ofTour)]));
}

/** One recorded frame for every message, from the tour if it has one. */
export function streamExamples(tour: Recording, others: Recording, names: readonly string[]): StreamExamples {
  const found = names.flatMap((name) => {
    const best = bestFrame(tour.frames, name) ?? bestFrame(others.frames, name);
    return best === undefined ? [] : [[name, JSON.parse(best) as unknown] as const];
  });
  return Object.fromEntries(found);
}

function bestFrame(frames: readonly RecordedFrame[], name: string): string | undefined {
  const texts = frames.flatMap((frame) => ('text' in frame ? [frame.text] : []));
  return bestOf(
    texts.filter((text) => text.startsWith(`{"type":"${name}"`)),
    (text) => text,
  );
}

/** The key of an example in the document: `status`, `status code` or `status type`. */
export function keyOf({ status, headers, body }: ObservedExchange): string | undefined {
  const type = headers['content-type']?.split(';', 1)[0] ?? '';
  if (body === '' || type === 'text/html') return undefined;
  if (type !== 'application/json') return `${status} ${type}`;
  const { error } = JSON.parse(body) as { readonly error?: string };
  return error === undefined ? String(status) : `${status} ${error}`;
}

function ownerOf(
  document: OpenApi,
  operation: OpenApiOperation | undefined,
  status: number,
): string | undefined {
  if (documentedResponse(document, operation, status) === undefined) return undefined;
  const response: Response | { readonly $ref: string } | undefined = operation?.responses[status];
  return operation === undefined || (response !== undefined && '$ref' in response)
    ? ANYWHERE
    : operation.operationId;
}

function examplesOf(
  exchanges: readonly ObservedExchange[],
  ofTour: ReadonlySet<ObservedExchange>,
): OperationExamples {
  const byKey = new Map<string, ObservedExchange[]>();
  for (const exchange of exchanges) {
    const key = keyOf(exchange);
    if (key !== undefined) byKey.set(key, [...(byKey.get(key) ?? []), exchange]);
  }
  const chosen = [...byKey]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, candidates]) => {
      const met = candidates.filter((candidate) => ofTour.has(candidate));
      const best = bestOf(
        met.length > 0 ? met : candidates,
        ({ body, requestBody = '' }) => body + requestBody,
      );
      return best === undefined ? [] : [[key, best] as const];
    });
  const selected = oneForEachStatus(chosen);
  const success = selected.findLast(
    ([, { status, requestBody }]) => status < 300 && requestBody !== undefined,
  )?.[1];
  const request =
    success?.requestBody === undefined ? {} : { request: JSON.parse(success.requestBody) as unknown };
  const responses = selected.map(([key, { headers, body }]) => {
    const isJson = headers['content-type']?.startsWith('application/json') === true;
    return [key, isJson ? (JSON.parse(body) as unknown) : body] as const;
  });
  return { ...request, responses: Object.fromEntries(responses) };
}

/** One refusal is enough if others differ only in their code. */
function oneForEachStatus(
  chosen: readonly (readonly [string, ObservedExchange])[],
): readonly (readonly [string, ObservedExchange])[] {
  const statuses = new Set<number>();
  return chosen.filter(([, { status }]) => {
    if (status < 400) return true;
    const isFirst = !statuses.has(status);
    statuses.add(status);
    return isFirst;
  });
}

function bestOf<Candidate>(
  candidates: readonly Candidate[],
  textOf: (candidate: Candidate) => string,
): Candidate | undefined {
  const short = candidates.filter((candidate) => textOf(candidate).length <= LONGEST);
  const measured = (short.length > 0 ? short : candidates).map((candidate) => {
    const text = textOf(candidate);
    return { candidate, shown: namesIn(text), length: text.length };
  });
  return measured.sort((a, b) => b.shown - a.shown || a.length - b.length)[0]?.candidate;
}

function namesIn(text: string): number {
  return new Set([...text.matchAll(/"([a-z_]+)":/g)].map(([, name]) => name)).size;
}

/** The fields in all replies, with their kinds, by owner and key. */
export function fieldsSeen(
  document: OpenApi,
  exchanges: readonly ObservedExchange[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const routes = new HttpRoutes(document);
  const seen = new Map<string, Set<string>>();
  for (const exchange of exchanges) {
    const owner = ownerOf(document, routes.find(exchange), exchange.status);
    const key = keyOf(exchange);
    if (owner === undefined || key === undefined) continue;
    const name = `${owner} ${key}`;
    const fields = seen.get(name) ?? new Set<string>();
    for (const field of fieldsIn(exchange.body)) fields.add(field);
    seen.set(name, fields);
  }
  return seen;
}

/** The fields of one JSON text, or of several with one on each line. */
export function fieldsIn(text: string): string[] {
  const values = text.split('\n').filter((line) => line !== '');
  return values.flatMap((line) => kindsIn(JSON.parse(line), ''));
}

function kindsIn(value: unknown, at: string): string[] {
  if (Array.isArray(value)) return [`${at}[]`, ...value.flatMap((element) => kindsIn(element, `${at}[]`))];
  if (typeof value !== 'object' || value === null) return [`${at}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, inner]) => kindsIn(inner, `${at}.${name}`));
}

/** The folder of a recording that has the tour, which examples are taken from. */
export const TOUR = 'tour';

/** All recorded exchanges and frames of a run. */
export interface Recording {
  readonly exchanges: readonly ObservedExchange[];
  readonly frames: readonly RecordedFrame[];
}

export function readRecording(folder: string): Recording {
  return {
    exchanges: linesOf(path.join(folder, EXCHANGES_FILE)) as ObservedExchange[],
    frames: linesOf(path.join(folder, FRAMES_FILE)) as RecordedFrame[],
  };
}

function linesOf(file: string): unknown[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): unknown => JSON.parse(line));
}
