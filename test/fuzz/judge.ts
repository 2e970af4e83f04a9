import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { sortOf, Sorts } from '../faults/checker/sorts.js';
import { HttpCheck } from '#libs/testing/interface/http-check.js';
import { PATIENCE_MS, type WireAnswer, type WireRequest } from './wire.js';

const SLOW_MS = 1_000;
const SWITCHING = 101;
const ERROR = /^\{"error":"(\w+)"/;
/** As it is counted. */
export const NO_ANSWER = 'no answer';
const HUNG_UP = 'hung up on, and again when asked alone: ';
const UNAVAILABLE = '503 though nothing is away, and again when asked alone: ';
const SILENT = `a complete request has no answer within ${PATIENCE_MS} ms, and none when it is asked alone`;
const MUTE = `a stream goes on without an answer within ${PATIENCE_MS} ms, and when it is said alone: `;
/** Of the edge, before there is a request that could have an operation. */
const BEFORE_REQUESTS: ReadonlySet<number> = new Set([400, 408, 413, 417, 431, 501, 503]);

/** What was sent, and for which operation. */
interface Asked {
  readonly operationId: string;
  readonly request: WireRequest;
}

/** What was found wrong, by sorts, so that none of them hides the others. */
export class Judge {
  readonly statuses = new Map<string, number>();
  /** Operations and messages that were not only refused. */
  readonly reached = new Set<string>();
  private readonly sorts = new Sorts();
  /** By sort, how the first of them came about. */
  private readonly hows = new Map<string, string>();
  private readonly check: HttpCheck;
  private held: { readonly what: string; readonly how: string }[] | undefined;

  constructor(document: OpenApi) {
    this.check = new HttpCheck(document);
  }

  /** How many sorts there are. */
  get found(): number {
    return this.sorts.all.length;
  }

  /** Some of each sort. */
  get violations(): readonly string[] {
    return this.sorts.all.flatMap(({ examples }) => examples);
  }

  /** For a report: each sort, and how the first of it came about. */
  get lines(): string[] {
    return this.sorts.linesWith((example) => this.hows.get(sortOf(example)) ?? '');
  }

  answer({ operationId, request }: Asked, answer: WireAnswer, how: string): void {
    const { status, headers, body } = answer;
    const error = ERROR.exec(body)?.[1] ?? '';
    this.count(`${status} ${error}`.trimEnd());
    if (status < 400) this.reach(operationId);
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
    // However its path was spoilt, it is the same operation.
    const where = `${request.method} ${request.target.split('?', 1)[0] ?? ''} `;
    for (const fault of rest) this.add(`not as documented: ${operationId} ${fault.replace(where, '')}`, how);
  }

  /** It leads to a stream, or is refused like any request. */
  handshake({ request }: Asked, { status, body }: WireAnswer, how: string): void {
    const error = ERROR.exec(body)?.[1] ?? '';
    this.count(`handshake ${status} ${error}`.trimEnd());
    if (status === SWITCHING) this.reach('openStream');
    if (status >= 500 && status !== 501 && status !== 503) this.add(`handshake: ${status} ${error}`, how);
    const isTold = request.method === 'HEAD' || error !== '';
    if (status >= 400 && !isTold) this.add(`handshake: ${status} without a code`, how);
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
    return this.sorts.has(SILENT);
  }

  mute(type: string, how: string): void {
    this.add(`${MUTE}${type}`, how);
  }

  knowsMuteness(type: string): boolean {
    return this.sorts.has(`${MUTE}${type}`);
  }

  hungUp(operationId: string, how: string): void {
    this.add(`${HUNG_UP}${operationId}`, how);
  }

  /** Without anything that somebody was given. */
  letIn(operationId: string, how: string): void {
    this.add(`a stranger is let in: ${operationId}`, how);
  }

  unavailable(operationId: string, how: string): void {
    this.add(`${UNAVAILABLE}${operationId}`, how);
  }

  knowsUnavailable(operationId: string): boolean {
    return this.sorts.has(`${UNAVAILABLE}${operationId}`);
  }

  knowsHangUp(operationId: string): boolean {
    return this.sorts.has(`${HUNG_UP}${operationId}`);
  }

  reach(name: string): void {
    this.reached.add(name);
  }

  count(what: string): void {
    this.statuses.set(what, (this.statuses.get(what) ?? 0) + 1);
  }

  add(what: string, how: string): void {
    if (this.held === undefined) this.note(what, how);
    else this.held.push({ what, how });
  }

  /** What is added from now on may turn out to follow from something else. */
  hold(): void {
    this.held = [];
  }

  /** Whether what was held stands for itself. */
  letGo(stands: boolean): void {
    const { held = [] } = this;
    this.held = undefined;
    if (stands) for (const { what, how } of held) this.note(what, how);
  }

  private note(what: string, how: string): void {
    this.sorts.add(what);
    const sort = sortOf(what);
    if (this.sorts.has(what) && !this.hows.has(sort)) this.hows.set(sort, how);
  }
}
