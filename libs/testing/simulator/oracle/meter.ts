import { must } from './violation.js';

const METERED = 'buckets give no more than they hold';

interface Bucket {
  readonly burst: number;
  readonly perSecond: number;
}

interface Taken {
  readonly saidAt: number;
  readonly answeredAt: number;
}

/** By operation, as the contract has them; of quotes one of the account, and one of the account in the auction. */
const OF_ACCOUNT: Readonly<Record<string, Bucket & { readonly name: string }>> = {
  CREATE: { name: 'create', burst: 4, perSecond: 2 },
  CANCEL: { name: 'cancel', burst: 10, perSecond: 5 },
  SUBMIT: { name: 'quote', burst: 100, perSecond: 50 },
  REVISE: { name: 'quote', burst: 100, perSecond: 50 },
};
const IN_AUCTION: Bucket = { burst: 20, perSecond: 10 };
const QUOTING: ReadonlySet<string> = new Set(['SUBMIT', 'REVISE']);
/** Clocks run a little faster than time. */
const FAST = 1.001;

/** Of commands that were decided, in a world in which no bucket is ever forgotten or asked for in vain. */
export class Meter {
  private readonly taken = new Map<string, Taken[]>();
  private readonly counted = new Set<string>();

  constructor(
    private readonly nowMillis: () => number,
    private readonly limitsFactor: number,
  ) {}

  /** The command has taken a token between the moment at which it was said first and now. */
  decided(
    command: { readonly operation: string; readonly account: string; readonly auctionId: string },
    name: string,
    saidAt: number,
  ): void {
    const { operation, account, auctionId } = command;
    const bucket = OF_ACCOUNT[operation];
    if (bucket === undefined || this.counted.has(name)) return;
    this.counted.add(name);
    this.take(`${bucket.name}/${account}`, bucket, saidAt);
    if (QUOTING.has(operation)) this.take(`quote/${account}/${auctionId}`, IN_AUCTION, saidAt);
  }

  private take(owner: string, { burst, perSecond }: Bucket, saidAt: number): void {
    const answeredAt = this.nowMillis();
    const all = this.taken.get(owner) ?? [];
    this.taken.set(owner, all);
    all.push({ saidAt, answeredAt });
    for (const { saidAt: from } of all) {
      const count = all.filter((one) => one.saidAt >= from).length;
      const most = this.limitsFactor * (burst + (perSecond * FAST * (answeredAt - from)) / 1_000);
      must(count <= most, METERED, () => `${owner}: ${count} within ${Math.round(answeredAt - from)} ms`);
    }
  }
}
