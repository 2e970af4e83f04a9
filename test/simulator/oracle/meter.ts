import { bucketsOf, type Bucket, type MeteredCommand } from './contract-buckets.js';
import { must } from './violation.js';

const METERED = 'buckets give no more than they hold';

interface Taken {
  readonly saidAt: number;
  readonly answeredAt: number;
}

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
  decided(command: MeteredCommand, name: string, saidAt: number): void {
    if (this.counted.has(name)) return;
    this.counted.add(name);
    for (const bucket of bucketsOf(command)) this.take(bucket, saidAt);
  }

  private take({ owner, burst, perSecond }: Bucket, saidAt: number): void {
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
