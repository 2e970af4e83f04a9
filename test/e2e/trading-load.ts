import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { auctionBody, CONTRACT, type Trader, type TradingFloor } from './trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;
export type LoadOperation = 'create' | 'submit' | 'revise' | 'withdraw';

/** One command and its last answer. */
export interface Sent {
  readonly operation: LoadOperation;
  readonly by: Trader;
  readonly path: string;
  readonly body: Fields;
  readonly key: string;
  /** Undefined if the call broke off or an owner was unreachable: the outcome is unknown. */
  readonly answer: ApiAnswer<AuctionJson & QuoteJson> | undefined;
}

const TERM_MS = { shortest: 1_500, longest: 3_500 };
const PAUSE_MS = 40;

/** Originators and makers at work; all commands and answers are recorded. */
export class TradingLoad {
  readonly sent: Sent[] = [];
  private readonly work: Promise<void>[] = [];
  private going = true;

  constructor(
    private readonly floor: TradingFloor,
    private readonly originators: readonly Trader[],
    private readonly makers: readonly Trader[],
  ) {}

  start(): void {
    for (const originator of this.originators) this.work.push(this.originate(originator));
  }

  /** Resolves when the last command has been answered or lost. */
  async stop(): Promise<void> {
    this.going = false;
    // Awaited work may start further work.
    for (let seen = 0; seen < this.work.length;) {
      seen = this.work.length;
      await Promise.all(this.work);
    }
  }

  get acknowledged(): Sent[] {
    return this.sent.filter(({ answer }) => answer !== undefined && answer.status < 300);
  }

  get unknown(): Sent[] {
    return this.sent.filter(({ answer }) => answer === undefined);
  }

  private async originate(originator: Trader): Promise<void> {
    while (this.going) {
      const makers = this.makers.filter(() => randomInt(3) > 0);
      const invited = makers.length === 0 ? this.makers : makers;
      const body = auctionBody(this.floor.contract('venue_c', randomInt(4)), invited, {
        side: randomInt(2) === 0 ? 'BUY' : 'SELL',
        allocation: randomInt(2) === 0 ? 'SPLIT' : 'SINGLE_WINNER',
        duration_ms: randomInt(TERM_MS.shortest, TERM_MS.longest),
        execution_deadline_ms: 10_000,
      });
      const answer = await this.send('create', originator, '/v1/auctions', body);
      if (answer?.status === 201) {
        const trades = invited.map((maker) => this.quote(maker, answer.body.auction_id));
        await Promise.race([Promise.all(trades), sleep(200)]);
        this.work.push(...trades);
      }
      await sleep(PAUSE_MS);
    }
  }

  private async quote(maker: Trader, auctionId: string): Promise<void> {
    const terms = { price_atoms: randomInt(300, 700) * 1_000, quantity_atoms: randomInt(1, 11) * CONTRACT };
    const path = `/v1/auctions/${auctionId}/quotes`;
    const submitted = await this.send('submit', maker, path, terms);
    if (submitted?.status !== 201 || randomInt(2) === 0) return;
    const { quote_id: id, revision } = submitted.body;
    const better = { expected_revision: revision, price_atoms: randomInt(300, 700) * 1_000 };
    const revised = await this.send('revise', maker, `${path}/${id}/revise`, better);
    if (revised?.status === 200 && randomInt(3) === 0)
      await this.send('withdraw', maker, `${path}/${id}/withdraw`, {});
  }

  private async send(
    operation: LoadOperation,
    by: Trader,
    path: string,
    body: Fields,
  ): Promise<Sent['answer']> {
    const key = randomUUID();
    let answer: Sent['answer'];
    try {
      const heard = await by.api.post<AuctionJson & QuoteJson>(path, body, key);
      if (heard.status < 500) answer = heard;
    } catch {
      answer = undefined;
    }
    this.sent.push({ operation, by, path, body, key, answer });
    return answer;
  }
}
