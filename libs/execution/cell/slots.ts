import { instantFromNanos, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { LimitRow, ShownLimit } from '../protocol/cell-replies.js';
import { printTime } from '../rules/record.js';

export type CallLimit = 'cancels' | 'reads' | 'rpc' | 'fee_quotes';

interface Rule {
  readonly limit: string;
  readonly scope: LimitRow['scope'];
  readonly max: number;
  readonly millis: number;
}

const SECOND = 1_000;
const MINUTE = 60_000;
const ORDERS = 5;
const CALLS: Readonly<Record<CallLimit, number>> = { cancels: 20, reads: 50, rpc: 20, fee_quotes: 10 };
/** Above this number, empty windows are dropped. */
const MOST_WINDOWS = 10_000;

/** The times at which slots of one rate limit were taken, oldest first. */
class Window {
  private taken: number[] = [];
  private from = 0;

  /** How many slots were taken in the last `millis`. */
  count(now: number, millis: number): number {
    while ((this.taken[this.from] ?? Infinity) <= now - millis) this.from += 1;
    if (this.from > SECOND && this.from * 2 > this.taken.length) {
      this.taken = this.taken.slice(this.from);
      this.from = 0;
    }
    return this.taken.length - this.from;
  }

  take(now: number): void {
    this.taken.push(now);
  }

  get oldest(): number | undefined {
    return this.taken[this.from];
  }
}

export interface KeyLimit {
  readonly client_id?: string;
  readonly orders_per_minute?: number;
}

export interface SlotsTaken {
  readonly ok: boolean;
  readonly code?: string;
  readonly slots: ShownLimit;
}

/** Exact rate limits per user and key. They are in memory only, so a restart of the cell resets them. */
export class Slots {
  private readonly windows = new Map<string, Window>();

  constructor(
    private readonly clock: Clock,
    private readonly factor: number,
  ) {}

  /** Takes a slot for a submit or amend from the user's and the key's limit. If either is full, takes none. */
  takeOrder(user_id: string, key: KeyLimit): SlotsTaken {
    const rules = [this.orders(), ...this.ofKey(key)];
    const windows = rules.map((rule) => this.windowOf(user_id, rule, key));
    const now = this.now();
    for (const [index, rule] of rules.entries()) {
      const window = windows[index];
      if (window === undefined || window.count(now, rule.millis) < rule.max) continue;
      const code = rule.scope === 'KEY' ? 'RATE_LIMITED_KEY' : 'RATE_LIMITED_ORDERS';
      return { ok: false, code, slots: this.shown(rule, window) };
    }
    for (const window of windows) window.take(now);
    const [rule = this.orders()] = rules;
    return { ok: true, slots: this.shown(rule, windows[0] ?? new Window()) };
  }

  takeCall(user_id: string, limit: CallLimit): SlotsTaken {
    const rule = this.ofCalls(limit);
    const window = this.windowOf(user_id, rule, {});
    const now = this.now();
    const isFree = window.count(now, rule.millis) < rule.max;
    if (isFree) window.take(now);
    return {
      ok: isFree,
      ...(isFree ? {} : { code: 'RATE_LIMITED_CALLS' }),
      slots: this.shown(rule, window),
    };
  }

  rows(user_id: string, key: KeyLimit): LimitRow[] {
    const calls = (Object.keys(CALLS) as CallLimit[]).map((limit) => this.ofCalls(limit));
    return [this.orders(), ...this.ofKey(key), ...calls].map((rule) => {
      const { limit, scope, max, millis } = rule;
      const { remaining, resets_at } = this.shown(rule, this.windowOf(user_id, rule, key));
      return { limit, scope, max, window_ms: millis, remaining, resets_at: printTime(resets_at) };
    });
  }

  private orders(): Rule {
    return { limit: 'orders', scope: 'USER', max: ORDERS * this.factor, millis: SECOND };
  }

  private ofKey({ client_id, orders_per_minute: max }: KeyLimit): Rule[] {
    if (client_id === undefined || max === undefined) return [];
    return [{ limit: 'orders_per_minute', scope: 'KEY', max: max * this.factor, millis: MINUTE }];
  }

  private ofCalls(limit: CallLimit): Rule {
    return { limit, scope: 'USER', max: CALLS[limit] * this.factor, millis: SECOND };
  }

  private windowOf(user_id: string, { limit, scope }: Rule, { client_id }: KeyLimit): Window {
    const name = `${limit}/${scope === 'KEY' ? client_id : user_id}`;
    const known = this.windows.get(name);
    if (known !== undefined) return known;
    if (this.windows.size >= MOST_WINDOWS) this.forgetEmpty();
    const window = new Window();
    this.windows.set(name, window);
    return window;
  }

  private forgetEmpty(): void {
    const now = this.now();
    for (const [name, window] of this.windows) if (window.count(now, MINUTE) === 0) this.windows.delete(name);
  }

  private now(): number {
    return Number(this.clock.monotonicNanos() / NANOS_PER_MILLI);
  }

  private shown({ limit, max, millis }: Rule, window: Window): ShownLimit {
    const now = this.now();
    const remaining = Math.max(max - window.count(now, millis), 0);
    const freeIn = window.oldest === undefined ? 0 : window.oldest + millis - now;
    return { limit, max, remaining, resets_at: this.in(freeIn) };
  }

  private in(millis: number): Instant {
    return instantFromNanos(this.clock.epochNanos() + BigInt(Math.max(millis, 0)) * NANOS_PER_MILLI);
  }
}
