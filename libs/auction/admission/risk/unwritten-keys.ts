import { secondsOf } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { AccountKey } from './resource-key.js';

export interface TakenKeys {
  readonly keys: readonly AccountKey[];
  written(): void;
  putBack(): void;
}

interface Behind {
  readonly key: AccountKey;
  /** Since when its row says something else, for all that is known. */
  readonly since: bigint;
}

/**
 * Keys of which the table is not known to say what memory does, and who waits for it to catch up. Bounded by the keys that exist.
 * What an attempt has in hand is counted as well: while attempts hang, there is nothing else.
 */
export class UnwrittenKeys {
  private keys = new Map<string, Behind>();
  private inHand: ReadonlyMap<string, Behind> = new Map();
  private waiting: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  get size(): number {
    let size = this.keys.size;
    for (const name of this.inHand.keys()) if (!this.keys.has(name)) size += 1;
    return size;
  }

  /** For how long the one that has waited longest has; 0 where there is none. */
  get oldestSeconds(): number {
    const now = this.clock.monotonicNanos();
    let oldest = now;
    for (const { since } of [...this.keys.values(), ...this.inHand.values()]) {
      if (since < oldest) oldest = since;
    }
    return secondsOf(now - oldest);
  }

  /** Resolves when the keys are written, or nobody will write them any more. */
  add(keys: readonly AccountKey[]): Promise<void> {
    const now = this.clock.monotonicNanos();
    for (const key of keys) if (!this.keys.has(key.name)) this.keys.set(key.name, { key, since: now });
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** One attempt at a time has keys in hand. */
  take(): TakenKeys {
    const { keys, waiting } = this;
    this.inHand = keys;
    this.keys = new Map();
    this.waiting = [];
    return {
      keys: [...keys.values()].map(({ key }) => key),
      written: () => {
        this.inHand = new Map();
        for (const resolve of waiting) resolve();
      },
      putBack: () => {
        this.inHand = new Map();
        // What came again meanwhile has waited since it came first.
        this.keys = new Map([...this.keys, ...keys]);
        this.waiting = [...waiting, ...this.waiting];
      },
    };
  }

  giveUp(): void {
    this.keys = new Map();
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
