import type { ApiClient } from '../cluster/api-client.js';
import type { QuoteView } from '../wire.js';

const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };

/** Quotes that stand in the auctions that hostile requests name, so that there is something that could be taken away. */
export class Furniture {
  /** By auction; changes when they do. */
  readonly quotes: string[] = [];
  private times = 0;

  constructor(
    private readonly maker: ApiClient,
    private readonly auctions: readonly string[],
  ) {}

  /** How often a quote was missing. */
  get putBackTimes(): number {
    return this.times;
  }

  /** Accepted commands may have taken them away. */
  async putBack(): Promise<void> {
    for (const [index, auction] of this.auctions.entries()) {
      const path = `/v1/auctions/${auction}/quotes`;
      const { body } = await this.maker.get<{ readonly quotes?: readonly QuoteView[] }>(path);
      const standing = body.quotes?.find(({ status }) => status === 'ACTIVE') ?? (await this.submit(path));
      this.quotes[index] = standing.quote_id;
    }
  }

  close(): void {
    this.maker.close();
  }

  private async submit(path: string): Promise<QuoteView> {
    const { status, body, text } = await this.maker.post<QuoteView>(path, TERMS);
    if (status !== 201) throw new Error(`no quote can be put back: ${status} ${text}`);
    this.times += 1;
    return body;
  }
}
