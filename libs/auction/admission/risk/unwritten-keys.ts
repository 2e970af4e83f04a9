import { secondsOf } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { AccountKey } from './resource-key.js';

export interface TakenKeys {
  readonly keys: readonly AccountKey[];
  written(): void;
  putBack(): void;
}

interface PendingKey {
  readonly key: AccountKey;
  /** Since when its row may differ from memory. */
  readonly since: bigint;
}

/**
 * Keys whose rows may differ from memory, and the callers that wait for the write. Keys of a running attempt count
 * too, so that a hanging attempt is visible.
 */
export class UnwrittenKeys {
  private keys = new Map<string, PendingKey>();
  private writing: ReadonlyMap<string, PendingKey> = new Map();
  private waiting: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  get size(): number {
    let size = this.keys.size;
    for (const name of this.writing.keys()) if (!this.keys.has(name)) size += 1;
    return size;
  }

  /** How long the oldest key has been waiting; 0 if there is none. */
  get oldestSeconds(): number {
    const now = this.clock.monotonicNanos();
    let oldest = now;
    for (const { since } of [...this.keys.values(), ...this.writing.values()]) {
      if (since < oldest) oldest = since;
    }
    return secondsOf(now - oldest);
  }

  /** Resolves when the keys are written, or when they will never be written. */
  add(keys: readonly AccountKey[]): Promise<void> {
    const now = this.clock.monotonicNanos();
    for (const key of keys) if (!this.keys.has(key.name)) this.keys.set(key.name, { key, since: now });
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Hands the keys to one attempt. Only one attempt runs at a time. */
  take(): TakenKeys {
    const { keys, waiting } = this;
    this.writing = keys;
    this.keys = new Map();
    this.waiting = [];
    return {
      keys: [...keys.values()].map(({ key }) => key),
      written: () => {
        this.writing = new Map();
        for (const resolve of waiting) resolve();
      },
      putBack: () => {
        this.writing = new Map();
        // A key that was added again meanwhile has waited since it was first added.
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
