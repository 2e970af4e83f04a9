import type { ApiClient } from '#libs/client/api-client.js';
import type { AuctionView, QuoteView } from '#libs/client/wire.js';

interface Told extends Partial<AuctionView> {
  readonly quotes?: readonly QuoteView[];
}

/** By what it is, as it is told. */
export type Standing = ReadonlyMap<string, string>;

/** What stands as the service tells it, out of its owners' memory: what tables and journals say nothing of could be in force there. */
export class Shown {
  constructor(
    private readonly originator: Pick<ApiClient, 'get'>,
    private readonly makers: readonly Pick<ApiClient, 'get'>[],
    private readonly auctions: readonly string[],
  ) {}

  async look(): Promise<Standing> {
    const standing = new Map<string, string>();
    for (const id of this.auctions) {
      const path = `/v1/auctions/${id}`;
      await this.note(standing, 'originator', this.originator, path);
      for (const [index, maker] of this.makers.entries()) {
        await this.note(standing, `maker ${index}`, maker, path);
        await this.note(standing, `maker ${index}`, maker, `${path}/quotes`);
      }
    }
    return standing;
  }

  /** What is over, or cannot be read, stands no more. A refusal is a line of its story, and changes nothing else. */
  private async note(
    standing: Map<string, string>,
    who: string,
    client: Pick<ApiClient, 'get'>,
    path: string,
  ): Promise<void> {
    const { status, body } = await client.get<Told>(path);
    if (status !== 200) return;
    for (const quote of body.quotes ?? [])
      if (quote.status === 'ACTIVE') standing.set(`${who} ${quote.quote_id}`, JSON.stringify(quote));
    if (body.status === 'OPEN')
      standing.set(`${who} ${path}`, JSON.stringify({ ...body, view_version: undefined }));
  }
}

/** What stood and stands, and is told otherwise. */
export function differing(before: Standing, after: Standing): string[] {
  return [...before].flatMap(([what, told]) => {
    const now = after.get(what);
    return now === undefined || now === told ? [] : [`${told} ${now}`];
  });
}
