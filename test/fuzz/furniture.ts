import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer, ApiClient } from '#libs/client/api-client.js';
import type { QuoteView } from '#libs/client/wire.js';

const QUOTE = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const WITHIN_MS = 10_000;
const BETWEEN_MS = 50;

/** What can be put back in its place. */
export interface Piece {
  putBack(): Promise<void>;
}

/** What hostile requests name, so that there is something that could be taken away; accepted ones may do that. */
export class Furniture {
  constructor(
    private readonly quotes: StandingQuotes,
    private readonly pieces: readonly Piece[],
  ) {}

  /** How often a quote was missing. */
  get putBackTimes(): number {
    return this.quotes.times;
  }

  /** In the order in which they are needed: who is halted can put back no quote. */
  async putBack(): Promise<void> {
    for (const piece of this.pieces) await piece.putBack();
    await this.quotes.putBack();
  }
}

/** One quote in each auction. */
export class StandingQuotes implements Piece {
  /** By auction; changes when they do. */
  readonly ids: string[] = [];
  times = 0;

  constructor(
    private readonly maker: ApiClient,
    private readonly auctions: readonly string[],
  ) {}

  async putBack(): Promise<void> {
    for (const [index, auction] of this.auctions.entries()) {
      const path = `/v1/auctions/${auction}/quotes`;
      const { body } = await this.maker.get<{ readonly quotes?: readonly QuoteView[] }>(path);
      const standing = body.quotes?.find(({ status }) => status === 'ACTIVE') ?? (await this.submit(path));
      this.ids[index] = standing.quote_id;
    }
  }

  private async submit(path: string): Promise<QuoteView> {
    const { body } = await insist('a quote', () => this.maker.post<QuoteView>(path, QUOTE));
    this.times += 1;
    return body;
  }
}

/** Nothing that comes behind it means anything. */
export class NotPutBack extends Error {}

/** What others have done may take a moment until nobody heeds it any more. */
export async function insist<Body>(
  what: string,
  ask: () => Promise<ApiAnswer<Body>>,
): Promise<ApiAnswer<Body>> {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const answer = await ask();
    if (answer.status < 300) return answer;
    if (performance.now() > deadline)
      throw new NotPutBack(`${what} cannot be put back: ${answer.status} ${answer.text}`);
    await sleep(BETWEEN_MS);
  }
}
