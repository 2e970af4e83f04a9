import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { LET_IN, type Judge } from './judge.js';
import { HostileRequests, KEY, mixed, sampled, type Drawn } from './requests.js';
import type { StillnessRun, Stillness } from './stillness.js';
import type { FuzzTarget } from './target.js';
import { bytesOf, exchange, type NoAnswer, type WireAnswer } from './wire.js';

export const BATCH = 8;
/** Methods whose success changes nothing. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const PREFLIGHTS: ReadonlySet<string> = new Set(['preflightAuction', 'preflightQuote']);
const CREATES: ReadonlySet<string> = new Set(['createAuction', 'preflightAuction']);
/** Operations after which a session has ended. */
const LEAVES: ReadonlySet<string> = new Set(['logout', 'logoutAll']);
const NEXT = /"next_cursor":"([\w-]+)"/;
const OVER = { tries: 20, everyMs: 100 };
/** The longest part shown of one request. */
const SHOWN = 1_500;

interface Asked extends Drawn {
  readonly port: number;
}

/** Sends hostile requests in batches. */
export class RequestBatches {
  readonly mutations = new Map<string, number>();
  /** The latest batch, as it was sent. */
  latest = '';
  private readonly requests: HostileRequests;
  private renewals = 0;

  constructor(
    private readonly target: Pick<FuzzTarget, 'ports' | 'http' | 'tokens' | 'real' | 'auctionOf'>,
    private readonly judge: Judge,
    private readonly stillness: Pick<Stillness, 'hold'>,
    private readonly seed: number,
  ) {
    this.requests = new HostileRequests(target, seed);
  }

  /** Plays one batch. Refused requests that were sent together with accepted ones are repeated alone. */
  play(): Promise<boolean> {
    const { ports } = this.target;
    const all = Array.from({ length: BATCH }, (_, index): Asked => ({
      ...this.requests.draw(),
      port: ports[index % ports.length] ?? 0,
    }));
    // While a shard drains, creates may be answered that it is unavailable.
    const drains = all.some(({ operationId }) => operationId === 'drainShard');
    const drawn = all.filter(({ operationId }) => !drains || !CREATES.has(operationId));
    for (const name of drawn.flatMap(({ mutations }) => mutations))
      this.mutations.set(name, (this.mutations.get(name) ?? 0) + 1);
    return this.stillness.hold(drawn, (asked) => this.playOnce(asked));
  }

  private async playOnce(asked: readonly Asked[]): Promise<StillnessRun<Asked>> {
    this.latest = asked.map((one) => this.inBytes(one)).join('\n---\n');
    const answers = await Promise.all(asked.map(async (one) => [one, await ask(one)] as const));
    const refused: Asked[] = [];
    for (const [one, answer] of answers) {
      this.judge.answer(one, answer, this.inBytes(one));
      this.keepCursor(one, answer);
      const again = await this.askedAlone(one, answer);
      if (![answer, again].some((each) => changesSomething(one, each))) refused.push(this.renewed(one));
      else if (LEAVES.has(one.operationId)) await this.mustBeOver(one);
    }
    return { isRefused: refused.length === asked.length, refused, how: this.latest };
  }

  /** The cursor of a list's next page is an existing value from now on. */
  private keepCursor({ operationId }: Asked, answer: WireAnswer | NoAnswer): void {
    const [, cursor] = typeof answer === 'string' ? [] : (NEXT.exec(answer.body) ?? []);
    if (cursor !== undefined) this.target.real.set(`${operationId}.cursor`, [cursor]);
  }

  /** Nothing else is sent meanwhile, so a late or lost answer is the request's own. */
  private async askedAlone(one: Asked, answer: WireAnswer | NoAnswer): Promise<WireAnswer | NoAnswer> {
    const { judge } = this;
    const first = judge.suspicion(one, answer);
    if (first === undefined || judge.knows(first)) return answer;
    const again = await ask(one);
    const second = judge.suspicion(one, again);
    if (second !== undefined) judge.add(second, this.inBytes(one));
    return again;
  }

  /** Other requests in progress may still be accepted for a moment. */
  private async mustBeOver(one: Asked): Promise<void> {
    const headers = one.request.headers.filter(([name]) => name === 'Host' || name === 'Authorization');
    const request = { method: 'GET', target: '/v1/me', headers, body: Buffer.alloc(0), isIncomplete: false };
    for (let tries = 1; tries <= OVER.tries; tries += 1) {
      const answer = await ask({ ...one, request });
      if (typeof answer === 'string' || answer.status >= 400) return;
      await sleep(OVER.everyMs);
    }
    this.judge.add(`${LET_IN}getMe after ${one.operationId}`, this.inBytes(one));
  }

  /** As sent, except that valid tokens are replaced by their names. */
  private inBytes({ operationId, mutations, request }: Asked): string {
    let text = bytesOf(request).toString('latin1');
    for (const [name, token] of this.target.tokens) text = text.replaceAll(token, `<token of ${name}>`);
    return `${operationId} (${mutations.join(', ')}): ${text.slice(0, SHOWN)}`;
  }

  /** With a new key, because the old one has its answer. */
  private renewed({ request, ...rest }: Asked): Asked {
    this.renewals += 1;
    const [, old = ''] = request.headers.find(([name]) => name === KEY) ?? [];
    const key = sampled(fc.uuid(), mixed(~this.seed, this.renewals));
    if (old.length !== key.length) return { ...rest, request };
    const headers = request.headers.map(([name, value]) => [name, value === old ? key : value] as const);
    const body = Buffer.from(request.body.toString('latin1').replaceAll(old, key), 'latin1');
    return { ...rest, request: { ...request, headers, body } };
  }
}

function ask({ port, request }: Asked): Promise<WireAnswer | NoAnswer> {
  return exchange(port, request);
}

function changesSomething({ operationId, request }: Asked, answer: WireAnswer | NoAnswer): boolean {
  if (typeof answer === 'string' || answer.status >= 400) return false;
  return !READS.has(request.method) && !PREFLIGHTS.has(operationId);
}
