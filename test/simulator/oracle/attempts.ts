import { commandName } from './archive.js';
import { bucketsOf, type Bucket, type MeteredCommand } from './contract-buckets.js';
import { must } from './violation.js';

const GIVEN = 'nobody is refused a token that is there';
const REFUSED = 429;
/** Clocks run a little slower than time. */
const SLOW = 0.999;
/** Of what is leased the home hears so much later: until then a bucket that is nearly full does not fill (decision 84). */
const HEARD_LATE_MILLIS = 150;

interface Attempt {
  /** Since when it may have been decided on. */
  readonly from: number;
  /** By when it was; without end where nobody has said so. */
  until: number;
  isRefused: boolean;
}

/** What is said of an attempt when it is over; undefined where its answer has not come, and never will. */
export type Ended = (status: number | undefined) => void;

/**
 * In a world in which nothing goes wrong: whoever is refused for an empty bucket may have emptied it. All that was tried counts as if
 * it had taken a token, at whatever moment between question and answer, but for what was itself refused.
 */
export class Attempts {
  private readonly byBucket = new Map<string, Attempt[]>();
  /** By command those that have no answer: what is said twice at a time is decided on once. */
  private readonly open = new Map<string, Set<Attempt>>();
  /** How many were refused, each for a reason. */
  refused = 0;

  constructor(
    private readonly nowMillis: () => number,
    private readonly limitsFactor: number,
  ) {}

  begin(command: MeteredCommand & { readonly key: string }): Ended {
    const name = commandName(command.operation, command.account, command.auctionId, command.key);
    const open = this.open.get(name) ?? new Set();
    this.open.set(name, open);
    const from = Math.min(this.nowMillis(), ...[...open].map((other) => other.from));
    const attempt: Attempt = { from, until: Infinity, isRefused: false };
    open.add(attempt);
    const buckets = bucketsOf(command);
    for (const { owner } of buckets) this.of(owner).push(attempt);
    return (status) => {
      if (status === undefined) return;
      open.delete(attempt);
      attempt.until = this.nowMillis();
      attempt.isRefused = status === REFUSED;
      if (!attempt.isRefused) return;
      this.refused += 1;
      const isFounded = buckets.some((bucket) => this.mayBeEmpty(bucket, attempt));
      must(
        isFounded,
        GIVEN,
        () =>
          `${name}: ${status}, and there is a token in ${buckets.map(({ owner }) => owner).join(' and ')}`,
      );
    };
  }

  /** It was full once, and so it has at least what has come since some moment, and what it holds, less what may have been taken since. */
  private mayBeEmpty({ owner, burst, perSecond, isLeased }: Bucket, refused: Attempt): boolean {
    // One that its auction's bucket refuses may have taken one of its account's.
    const others = this.of(owner).filter((other) => other !== refused && (isLeased || !other.isRefused));
    const rate = (this.limitsFactor * perSecond) / 1_000;
    const least = 1 + (isLeased ? rate * HEARD_LATE_MILLIS : 0);
    return others.some(({ until: since }) => {
      const taken = others.filter(({ until }) => until >= since).length;
      const gained = rate * SLOW * Math.max(0, refused.from - since);
      return this.limitsFactor * burst + gained - taken < least;
    });
  }

  private of(owner: string): Attempt[] {
    const known = this.byBucket.get(owner) ?? [];
    this.byBucket.set(owner, known);
    return known;
  }
}
