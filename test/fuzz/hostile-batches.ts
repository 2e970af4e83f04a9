import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../simulator/kernel/random.js';
import { HANDSHAKE, HostileRequests } from './hostile-requests.js';
import { NO_ANSWER, type Judge } from './judge.js';
import type { Played, Stillness, Verdict } from './stillness.js';
import type { Target } from './target.js';
import { isWellFormed } from './well-formed.js';
import { bytesOf, exchange, type NoAnswer, type WireAnswer, type WireRequest } from './wire.js';

export const BATCH = 8;
/** What is answered with good news and changes nothing. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const PREFLIGHTS: ReadonlySet<string> = new Set(['preflightAuction', 'preflightQuote']);
const CREATES: ReadonlySet<string> = new Set(['createAuction', 'preflightAuction']);
/** Behind which a session is over. */
const LEAVES: ReadonlySet<string> = new Set(['logout', 'logoutAll']);
const OVER = { tries: 20, everyMs: 100 };
const KEY = 'Idempotency-Key';
const UNAVAILABLE = 503;
/** Of one request, whatever its length. */
const SHOWN = 1_500;
const UUID = /^[\da-f]{8}-[\da-f-]{27}$/;

interface Asked {
  readonly operationId: string;
  readonly request: WireRequest;
  readonly port: number;
  readonly spoils: readonly string[];
  readonly isStranger: boolean;
}

interface Answered extends Asked {
  readonly isAccepted: boolean;
}

/** Hostile requests, so many at once. */
export class HostileBatches {
  readonly spoils = new Map<string, number>();
  private readonly requests: HostileRequests;
  /** How many are needed is up to the answers, what is drawn to the seed alone. */
  private readonly keys: Random;
  /** What was asked last, as it was sent. */
  latest = '';

  constructor(
    private readonly target: Pick<Target, 'ports' | 'http' | 'tokens' | 'known'> &
      Partial<Pick<Target, 'streamPath'>>,
    private readonly judge: Judge,
    private readonly stillness: Pick<Stillness, 'hold'>,
    random: Random,
  ) {
    this.requests = new HostileRequests(target, random);
    this.keys = random.fork('keys');
  }

  /** One batch; what of it is refused beside what is not is asked again. */
  play(): Promise<Verdict> {
    const { ports } = this.target;
    const all = Array.from({ length: BATCH }, (_, index): Asked => {
      const port = ports[index % ports.length] ?? 0;
      return { ...this.requests.draw(), port };
    });
    // Where a shard drains, creates are rightly answered that it is away.
    const drains = all.some(({ operationId }) => operationId === 'drainShard');
    const drawn = all.filter(({ operationId }) => !drains || !CREATES.has(operationId));
    for (const { spoils } of drawn)
      for (const name of spoils) this.spoils.set(name, (this.spoils.get(name) ?? 0) + 1);
    return this.stillness.hold(drawn, (asked) => {
      this.latest = this.inBytes(asked);
      return this.playOnce(asked);
    });
  }

  private async playOnce(asked: readonly Asked[]): Promise<Played<Asked>> {
    const answers = await Promise.all(asked.map(async (one) => ({ one, answer: await ask(one) })));
    const answered: Answered[] = [];
    for (const { one, answer } of answers) {
      this.note(one, answer);
      const again = await this.askedAlone(one, answer);
      const isAccepted =
        changesSomething(one, answer) || (again !== undefined && changesSomething(one, again));
      answered.push({ ...one, isAccepted });
      if (isAccepted && LEAVES.has(one.operationId)) await this.mustBeOver(one);
    }
    const refused = answered.filter(({ isAccepted }) => !isAccepted);
    return {
      isRefused: refused.length === asked.length,
      refused: refused.map((one) => this.renewed(one)),
      doubtful: [],
      how: this.inBytes(asked),
    };
  }

  /** Other requests under way may be let in for a moment. */
  private async mustBeOver(one: Asked): Promise<void> {
    const headers = one.request.headers.filter(([name]) => name === 'Host' || name === 'Authorization');
    const request = { method: 'GET', target: '/v1/me', headers, body: Buffer.alloc(0), isIncomplete: false };
    for (let tries = 1; tries <= OVER.tries; tries += 1) {
      const answer = await ask({ ...one, request });
      if (typeof answer === 'string' || answer.status >= 400) return;
      await sleep(OVER.everyMs);
    }
    this.judge.letIn(`getMe behind ${one.operationId}`, wordsOf(one));
  }

  private note(one: Asked, answer: WireAnswer | NoAnswer): void {
    const { judge } = this;
    if (answer === 'CLOSED') judge.count('closed without an answer');
    else if (answer === 'CUT OFF') judge.count('closed within the answer');
    else if (answer === 'SILENCE') judge.count(one.request.isIncomplete ? 'waits for the rest' : NO_ANSWER);
    else if (one.operationId === HANDSHAKE) judge.handshake(one, answer, wordsOf(one));
    else judge.answer(one, answer, wordsOf(one));
    if (one.isStranger && typeof answer !== 'string' && answer.status < 400)
      judge.letIn(one.operationId, wordsOf(one));
  }

  /** Nobody else is there any more: what is late or lost now is so by itself. Undefined where there was no need. */
  private async askedAlone(
    one: Asked,
    answer: WireAnswer | NoAnswer,
  ): Promise<WireAnswer | NoAnswer | undefined> {
    if (!this.isWorthIt(one, answer)) return undefined;
    const { judge } = this;
    const again = await ask(one);
    if (again === 'SILENCE') judge.silent(wordsOf(one));
    else if (typeof again === 'string') judge.hungUp(one.operationId, wordsOf(one));
    else if (again.status === UNAVAILABLE && isUnavailable(answer))
      judge.unavailable(one.operationId, wordsOf(one));
    else if (judge.isSlow(again)) judge.slow(again.millis, wordsOf(one));
    return again;
  }

  /** What waits for the rest of a request may wait, and what is malformed may be hung up on. */
  private isWorthIt({ operationId, request }: Asked, answer: WireAnswer | NoAnswer): boolean {
    const { judge } = this;
    if (request.isIncomplete) return false;
    if (answer === 'SILENCE') return !judge.knowsSilence;
    if (typeof answer === 'string')
      return isWellFormed(withoutHandshake(request)) && !judge.knowsHangUp(operationId);
    return judge.isSlow(answer) || (isUnavailable(answer) && !judge.knowsUnavailable(operationId));
  }

  /** As sent, but for good tokens, which are known by their names: what is left of eight requests can be said again. */
  private inBytes(asked: readonly Asked[]): string {
    const { tokens } = this.target;
    const texts = asked.map(({ request }) => {
      let text = bytesOf(request).toString('latin1');
      for (const [name, token] of tokens) text = text.replaceAll(token, `<token of ${name}>`);
      return text.slice(0, SHOWN);
    });
    return texts.join('\n---\n');
  }

  /** Under a new key, as the old one has its answer. */
  private renewed({ request, ...rest }: Asked): Asked {
    const [, old = ''] = request.headers.find(([name, value]) => name === KEY && UUID.test(value)) ?? [];
    if (old === '') return { ...rest, request };
    const key = this.keys.uuid();
    const headers = request.headers.map(([name, value]) => [name, value === old ? key : value] as const);
    const body = Buffer.from(request.body.toString('latin1').replaceAll(old, key), 'latin1');
    return { ...rest, request: { ...request, headers, body } };
  }
}

function ask({ port, request }: Asked): Promise<WireAnswer | NoAnswer> {
  return exchange(port, bytesOf(request), request.isIncomplete);
}

/** In this run nothing is away, so that is no more than an excuse. */
function isUnavailable(answer: WireAnswer | NoAnswer): boolean {
  return typeof answer !== 'string' && answer.status === UNAVAILABLE;
}

/** What is left of it is owed an answer like any other request. */
function withoutHandshake(request: WireRequest): WireRequest {
  const headers = request.headers.filter(
    ([name, value]) =>
      !(name === 'Upgrade' && value === 'websocket') && !(name === 'Connection' && value === 'Upgrade'),
  );
  return { ...request, headers };
}

function changesSomething({ operationId, request }: Asked, answer: WireAnswer | NoAnswer): boolean {
  if (typeof answer === 'string' || answer.status >= 400) return false;
  return !READS.has(request.method) && !PREFLIGHTS.has(operationId);
}

function wordsOf({ operationId, spoils, request }: Asked): string {
  const text = bytesOf(request)
    .toString('latin1')
    .replace(/Bearer [\w.-]{20,}/g, 'Bearer ...')
    .slice(0, 900);
  return `${operationId} (${spoils.join(', ')}): ${text}`;
}
