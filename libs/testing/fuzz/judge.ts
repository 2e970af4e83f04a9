import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { HttpCheck } from '../interface/http-check.js';
import { PATIENCE_MS, type WireAnswer, type WireRequest } from './wire.js';

const SLOW_MS = 1_000;
const KEPT = 40;
const SILENT = `a complete request has no answer within ${PATIENCE_MS} ms, and none when it is asked alone`;
/** Of the edge, before there is a request that could have an operation. */
const BEFORE_REQUESTS: ReadonlySet<number> = new Set([400, 408, 413, 417, 431, 501, 503]);

/** What was found wrong, one line for each sort of it. */
export class Judge {
  readonly found = new Map<string, string>();
  readonly statuses = new Map<string, number>();
  private readonly check: HttpCheck;

  constructor(document: OpenApi) {
    this.check = new HttpCheck(document);
  }

  answer(request: WireRequest, answer: WireAnswer, how: string): void {
    const { status, headers, body } = answer;
    const error = /^\{"error":"(\w+)"/.exec(body)?.[1] ?? '';
    this.count(`${status} ${error}`.trimEnd());
    const exchange = {
      method: request.method,
      path: request.target,
      requestHeaders: {},
      status,
      headers,
      body,
    };
    if (status >= 500 && status !== 501 && status !== 503) this.add(`${status} ${error}`, how);
    const faults = status < 400 ? [] : this.check.faults(exchange);
    // What cannot be read as a request is answered for no operation.
    const isEarly = BEFORE_REQUESTS.has(status) && faults.length > 0;
    const rest = isEarly ? this.check.faults({ ...exchange, path: '/nowhere' }) : faults;
    for (const fault of rest) this.add(`not as documented: ${fault}`, how);
  }

  /** True when it is worth another look: only what is slow twice is. */
  isSlow({ millis }: { readonly millis: number }): boolean {
    return millis > SLOW_MS;
  }

  slow(millis: number, how: string): void {
    this.add(`slower than ${SLOW_MS} ms: ${millis.toFixed(0)} ms`, how);
  }

  silent(how: string): void {
    this.add(SILENT, how);
  }

  /** What is known to be so is not waited for again. */
  get knowsSilence(): boolean {
    return this.found.has(SILENT);
  }

  count(what: string): void {
    this.statuses.set(what, (this.statuses.get(what) ?? 0) + 1);
  }

  add(what: string, how: string): void {
    if (this.found.size < KEPT && !this.found.has(what)) this.found.set(what, how);
  }
}
