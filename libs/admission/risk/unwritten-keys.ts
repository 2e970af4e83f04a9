import type { AccountKey } from './resource-key.js';

export interface TakenKeys {
  readonly keys: readonly AccountKey[];
  written(): void;
  putBack(): void;
}

/** Keys of which the table lags behind memory, and who waits for it to catch up. Bounded by the keys that exist. */
export class UnwrittenKeys {
  private keys = new Map<string, AccountKey>();
  private waiting: (() => void)[] = [];

  get size(): number {
    return this.keys.size;
  }

  /** Resolves when the keys are written, or nobody will write them any more. */
  add(keys: readonly AccountKey[]): Promise<void> {
    for (const key of keys) this.keys.set(key.name, key);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  take(): TakenKeys {
    const { keys, waiting } = this;
    this.keys = new Map();
    this.waiting = [];
    return {
      keys: [...keys.values()],
      written: () => {
        for (const resolve of waiting) resolve();
      },
      putBack: () => {
        this.keys = new Map([...keys, ...this.keys]);
        this.waiting = [...waiting, ...this.waiting];
      },
    };
  }

  giveUp(): void {
    this.take().written();
  }
}
