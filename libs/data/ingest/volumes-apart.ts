import type { Pool } from 'pg';
import { PROVIDER_FACTS, PROVIDERS, type Provider } from '../rules/providers.js';
import { instrumentOf } from '../store/instruments.js';

const NUMBERS = `select market_id, market_no from data.markets where provider = $1 and market_id = any ($2::text[])`;
const SUMS = `
  select instrument, sum(volume)::text as volume from data.candles
  where instrument = any ($1::bigint[]) and timeframe = 86400 group by instrument`;

/** What a venue counts before our first trade of a market lies within these. */
interface Earlier {
  readonly least: bigint;
  readonly most: bigint;
}

interface CountedMarket {
  /** Ours, read before the venue's count. */
  ours: bigint | undefined;
  theirs: bigint;
  earlier: Earlier | undefined;
}

/**
 * Compares what a venue says was traded in each market with our trades. Ours are read before the venue's count and once more at the next
 * comparison, when all of it has arrived: the count must lie between the two, above what the venue had counted before we began.
 */
export class VolumesApart {
  private readonly markets = new Map<string, CountedMarket>();

  constructor(
    private readonly pool: Pool,
    private readonly provider: Provider,
  ) {}

  /** The markets whose volumes are apart. `count` asks the venue: millionths of a contract since listing, by market. */
  async find(count: () => Promise<ReadonlyMap<string, bigint> | undefined>): Promise<readonly string[]> {
    const sums = await this.sums([...this.markets.keys()]);
    const apart = [...this.markets]
      .filter(([id, market]) => compare(market, sums.get(id) ?? 0n))
      .map(([id]) => id);
    const theirs = await count();
    for (const id of this.markets.keys()) if (theirs?.has(id) !== true) this.markets.delete(id);
    for (const [id, volume] of theirs ?? []) {
      const known = this.markets.get(id);
      if (known === undefined) {
        this.markets.set(id, { ours: undefined, theirs: volume, earlier: undefined });
      } else {
        // The venue has taken a trade back.
        if (volume < known.theirs) known.earlier = undefined;
        known.ours = sums.get(id) ?? 0n;
        known.theirs = volume;
      }
    }
    return apart;
  }

  private async sums(ids: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    if (ids.length === 0) return new Map();
    const { rows: markets } = await this.pool.query<{ market_id: string; market_no: number }>(NUMBERS, [
      PROVIDERS.indexOf(this.provider),
      ids,
    ]);
    const outcomes = PROVIDER_FACTS[this.provider].isSingleBook ? [0] : [0, 1];
    const owners = new Map(
      markets.flatMap(({ market_id, market_no }) =>
        outcomes.map((outcome) => [instrumentOf(market_no, outcome), market_id] as const),
      ),
    );
    const { rows } = await this.pool.query<{ instrument: number; volume: string }>(SUMS, [
      [...owners.keys()],
    ]);
    const sums = new Map<string, bigint>();
    for (const { instrument, volume } of rows) {
      const id = owners.get(instrument) ?? '';
      sums.set(id, (sums.get(id) ?? 0n) + BigInt(volume));
    }
    return sums;
  }
}

/** Whether they are apart. After a difference, and after trades were busted or dropped, the comparison begins again. */
function compare(market: CountedMarket, now: bigint): boolean {
  const { ours, theirs, earlier } = market;
  if (ours === undefined) return false;
  if (now < ours) {
    market.earlier = undefined;
    return false;
  }
  const measured = { least: theirs - now, most: theirs - ours };
  const least = earlier !== undefined && earlier.least > measured.least ? earlier.least : measured.least;
  const most = earlier !== undefined && earlier.most < measured.most ? earlier.most : measured.most;
  const isApart = least > most;
  market.earlier = isApart ? measured : { least, most };
  return isApart;
}
