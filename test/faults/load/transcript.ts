import type { ObservedExchange } from '#libs/client/api-client.js';
import type { AsyncApi } from '#libs/edge/documents/asyncapi-types.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { HttpCheck } from '#libs/testing/interface/http-check.js';
import { StreamCheck } from '#libs/testing/interface/stream-check.js';
import type { Promised } from '../../simulator/oracle/promises.js';
import type { ObservedReading } from '../../simulator/oracle/readings.js';
import { Sorts } from '../checker/sorts.js';

/** A command and one answer to it. */
export interface AnsweredCommand {
  readonly command: Promised;
  readonly status: number;
  readonly body: string;
  readonly shard: number;
  /** Undefined for a stream. */
  readonly gateway?: number;
  /** In milliseconds of a clock that never jumps. */
  readonly endedAt: number;
}

/**
 * Quotes sent while another quote left no balance for them. Each command was sent after the answer to the one
 * before, the withdrawal last.
 */
export interface Overspending {
  /** Acknowledged before any other was sent. */
  readonly standing: Promised;
  readonly beside: readonly Pick<AnsweredCommand, 'command' | 'status' | 'body'>[];
  /** Withdraws the first quote. If it succeeded, that quote was active all the time. */
  readonly withdrawal: Promised;
}

export type ReadingKind = 'view' | 'list' | 'timeline' | 'quotes' | 'ownQuotes' | 'preflight';

export interface KindOfReading {
  readonly kind: ReadingKind;
  readonly reading: ObservedReading;
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Of answers that look the same, one in eight is checked against the document. */
const CHECKED_OF = 8;
const REQUEST_TIMEOUT = 408;
const REFUSAL = '"type":"reject"';
const DOCUMENTED = 'as documented';

/** All requests and answers that the users of the campaign remember. */
export class Transcript {
  readonly answered: AnsweredCommand[] = [];
  readonly readings: KindOfReading[] = [];
  readonly overspendings: Overspending[] = [];
  /** Answers by status and code, with unanswered requests. */
  readonly codes = new Map<string, number>();
  readonly faults = new Sorts();
  requests = 0;
  private readonly idsToldTo = new Map<string, Set<string>>();
  private readonly check: HttpCheck;
  private readonly streamCheck: StreamCheck;

  constructor(
    readonly document: OpenApi,
    ofStreams: AsyncApi,
  ) {
    this.check = new HttpCheck(document);
    this.streamCheck = new StreamCheck(ofStreams);
  }

  hear(account: string, exchange: ObservedExchange): void {
    this.requests += 1;
    this.noteIds(account, exchange.body);
    const { status, body } = exchange;
    const error = status < 400 ? '' : (/"error":"(\w+)"/.exec(body)?.[1] ?? 'without a code');
    this.count(`${status} ${error}`.trimEnd());
    if (status < 400 && this.requests % CHECKED_OF !== 0) return;
    for (const fault of this.check.faults(exchange)) this.fault(fault);
  }

  /** Records a stream's frame; refusals are checked against the document. */
  hearFrame(account: string, text: string): void {
    this.noteIds(account, text);
    if (!text.includes(REFUSAL)) return;
    for (const fault of this.streamCheck.faults([{ direction: 'server', text }]))
      this.fault(`stream: ${fault} in ${text.slice(0, 200)}`);
  }

  hearNothing(): void {
    this.requests += 1;
    this.count('no answer');
  }

  private noteIds(account: string, text: string): void {
    const known = this.idsToldTo.get(account) ?? new Set();
    this.idsToldTo.set(account, known);
    for (const [id] of text.matchAll(UUID)) known.add(id);
  }

  idsTold(account: string): ReadonlySet<string> {
    return this.idsToldTo.get(account) ?? new Set();
  }

  fault(what: string): void {
    this.faults.add(`${DOCUMENTED}: ${what}`);
  }

  private count(code: string): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }
}

/** Whether the status is final: done or refused, and neither overloaded, lost nor received in part. */
export function decides(status: number): boolean {
  return status < 500 && status !== 429 && status !== REQUEST_TIMEOUT;
}
