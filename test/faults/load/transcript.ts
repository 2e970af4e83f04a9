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
  /** Undefined over a stream. */
  readonly gateway?: number;
  /** In milliseconds of a clock that never jumps. */
  readonly endedAt: number;
}

/** What somebody asked for while a quote stood that left nothing over for it. One was asked behind the answer to the other, the withdrawal last. */
export interface Overspending {
  /** Acknowledged before anything else was asked for. */
  readonly standing: Promised;
  readonly beside: readonly Pick<AnsweredCommand, 'command' | 'status' | 'body'>[];
  /** Of the first; whoever finds it done knows that it stood all the while. */
  readonly withdrawal: Promised;
}

export type ReadingKind = 'view' | 'list' | 'timeline' | 'quotes' | 'ownQuotes' | 'preflight';

export interface KindOfReading {
  readonly kind: ReadingKind;
  readonly reading: ObservedReading;
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Of answers that look all alike one in so many is held against the document. */
const CHECKED_OF = 8;
const REQUEST_TIMEOUT = 408;
const REFUSAL = '"type":"reject"';
const DOCUMENTED = 'as documented';

/** Everything that was asked and told, as the people of the campaign remember it. */
export class Transcript {
  readonly answered: AnsweredCommand[] = [];
  readonly readings: KindOfReading[] = [];
  readonly overspendings: Overspending[] = [];
  /** Answers by status and code, unanswered requests included. */
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

  /** What a stream says; refusals are held against the document. */
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

/** Whether a command that is answered so is done or refused, and was not turned away, lost on the way or only heard in part. */
export function decides(status: number): boolean {
  return status < 500 && status !== 429 && status !== REQUEST_TIMEOUT;
}
