import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { HttpCheck } from '#libs/testing/interface/http-check.js';
import { sortOf, Sorts } from '../faults/checker/sorts.js';
import { PATIENCE_MS, type NoAnswer, type WireAnswer } from './wire.js';
import type { Drawn } from './requests.js';

const SLOW_MS = 1_000;
const ERROR = /^\{"error":"(\w+)"/;
const UNAVAILABLE = 503;
/** Answers of the edge to bytes that are not yet a request with an operation. */
const BEFORE_REQUESTS: ReadonlySet<number> = new Set([400, 408, 413, 417, 431, 501, UNAVAILABLE]);

/** The name under which it is counted. */
export const NO_ANSWER = 'no answer';
export const SILENT = `a complete request has no answer within ${PATIENCE_MS} ms, and none when it is asked alone`;
export const HUNG_UP = 'hung up on, and again when asked alone: ';
export const LET_IN = 'a stranger is let in: ';
export const UNDOCUMENTED = 'documented codes only: ';

/** Faults by sort, so that none hides the others. */
export class Judge {
  readonly statuses = new Map<string, number>();
  /** Operations and messages that were not only refused. */
  readonly reached = new Set<string>();
  private readonly sorts = new Sorts();
  /** How the first fault of each sort happened. */
  private readonly hows = new Map<string, string>();
  private readonly check: HttpCheck;

  constructor(document: OpenApi) {
    this.check = new HttpCheck(document);
  }

  /** The number of sorts. */
  get found(): number {
    return this.sorts.all.length;
  }

  /** For a report: each sort, and how its first fault happened. */
  get lines(): string[] {
    return this.sorts.linesWith((example) => this.hows.get(sortOf(example)) ?? '');
  }

  add(what: string, how: string): void {
    this.sorts.add(what);
    if (!this.hows.has(sortOf(what))) this.hows.set(sortOf(what), how);
  }

  /** A known fault is not waited for again. */
  knows(what: string): boolean {
    return this.sorts.has(what);
  }

  count(what: string): void {
    this.statuses.set(what, (this.statuses.get(what) ?? 0) + 1);
  }

  answer({ operationId, request, isStranger }: Drawn, answer: WireAnswer | NoAnswer, how: string): void {
    if (typeof answer === 'string') {
      this.count(answer === 'SILENCE' && !request.isIncomplete ? NO_ANSWER : answer.toLowerCase());
      return;
    }
    const { status, headers, body } = answer;
    const error = ERROR.exec(body)?.[1] ?? '';
    this.count(`${status} ${error}`.trimEnd());
    if (status < 400) {
      this.reached.add(operationId);
      if (isStranger) this.add(`${LET_IN}${operationId}`, how);
      return;
    }
    if (status >= 500 && status !== 501 && status !== UNAVAILABLE)
      this.add(`${status} ${error}: ${operationId}`, how);
    const exchange = {
      method: request.method,
      path: request.target,
      requestHeaders: {},
      status,
      headers,
      body,
    };
    const faults = this.check.faults(exchange);
    // An answer to bytes that are not a request belongs to no operation.
    const isEarly = BEFORE_REQUESTS.has(status) && faults.length > 0;
    const rest = isEarly ? this.check.faults({ ...exchange, path: '/nowhere' }) : faults;
    // The operation is the same, whatever happened to its path.
    const where = `${request.method} ${request.target.split('?', 1)[0] ?? ''} `;
    for (const fault of rest) this.add(`${UNDOCUMENTED}${operationId} ${fault.replace(where, '')}`, how);
  }

  /** A violation if it happens again while nothing else is sent. */
  suspicion(
    { operationId, request, isWellFormed }: Drawn,
    answer: WireAnswer | NoAnswer,
  ): string | undefined {
    // An incomplete request may be waited for, and a malformed one may be disconnected.
    if (request.isIncomplete || answer === 'LEFT') return undefined;
    if (answer === 'SILENCE') return SILENT;
    if (typeof answer === 'string') return isWellFormed ? `${HUNG_UP}${operationId}` : undefined;
    // Nothing is down in this run, so a 503 is wrong.
    if (answer.status === UNAVAILABLE)
      return `503 though nothing is away, and again when asked alone: ${operationId}`;
    return this.slowness(answer.millis);
  }

  slowness(millis: number): string | undefined {
    return millis > SLOW_MS ? `slower than ${SLOW_MS} ms: ${millis.toFixed(0)} ms` : undefined;
  }
}
