import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Pool } from 'pg';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { PacedPoll, type PollPace } from '#libs/platform/time/paced-poll.js';
import { loadPolicy, readableVersion } from './load-policy.js';
import type { PolicySnapshot } from './policy-snapshot.js';

export interface PolicyWatchSettings extends PollPace {
  /** Past this age without a successful look the policy counts as unknown, and unknown refuses. */
  readonly maxStalenessMillis: number;
}

export type CurrentPolicy = { readonly ok: true; readonly snapshot: PolicySnapshot } | Rejection;

const DEFAULTS: PolicyWatchSettings = { busyMillis: 200, idleMillis: 800, maxStalenessMillis: 3_000 };

/** Follows the economic policy. Answers from memory; never with a policy that is older than the bound. */
export class PolicyWatch {
  private snapshot: PolicySnapshot | undefined;
  /** When the last successful look began: what it saw cannot be older than that. */
  private seenAt = 0n;
  private readonly looks: PacedPoll;
  /** The look that is being taken; its end, however it ends. */
  private looking: Promise<void> = Promise.resolve();
  /** The look behind it, which has not begun. */
  private next: Promise<void> | undefined;
  private readonly listeners = new Set<(snapshot: PolicySnapshot) => void>();
  private onFault: (error: unknown) => void = () => undefined;
  private isFailing = false;

  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
    /** Whether somebody has to hear of changes who does not ask: quotes that stand must go when their maker is frozen. */
    private readonly isNeeded: () => boolean = () => true,
    private readonly settings: PolicyWatchSettings = DEFAULTS,
  ) {
    this.looks = new PacedPoll(clock, settings, () => this.look());
  }

  /** Looks once and goes on looking. A first look that fails is not fatal: until one succeeds everything is refused. */
  async start(): Promise<void> {
    await this.look();
    this.looks.start();
  }

  stop(): void {
    this.looks.stop();
  }

  current(): CurrentPolicy {
    this.looks.wanted();
    const age = this.clock.monotonicNanos() - this.seenAt;
    if (this.snapshot === undefined || age > BigInt(this.settings.maxStalenessMillis) * NANOS_PER_MILLI) {
      return rejected('AUTHORITY_EVIDENCE_STALE', 'The economic policy cannot be verified at present.');
    }
    return { ok: true, snapshot: this.snapshot };
  }

  /** What was seen last, for who must not judge by it: it may be of any age. */
  get latest(): PolicySnapshot | undefined {
    return this.snapshot;
  }

  /** Looks now, for a caller that has just changed the policy itself and counts on it. */
  async freshen(): Promise<void> {
    await this.refresh().catch(() => undefined);
  }

  /** Told of every new version, for those who must act when a maker is frozen or a market closes. */
  onChange(listener: (snapshot: PolicySnapshot) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Told of the first of looks that fail one after the other. */
  tellFaults(listener: (error: unknown) => void): void {
    this.onFault = listener;
  }

  private async look(): Promise<void> {
    try {
      await this.refresh();
      this.isFailing = false;
    } catch (error) {
      // Age tells who asks: current() refuses once the bound has passed.
      if (!this.isFailing) this.onFault(error);
      this.isFailing = true;
    }
    if (this.isNeeded()) this.looks.wanted();
  }

  /** One look after another, so that a slow one never puts back what a later one saw. Who asks meanwhile shares the next. */
  private refresh(): Promise<void> {
    this.next ??= this.looking.then(() => {
      this.next = undefined;
      return this.read();
    });
    this.looking = this.next.catch(() => undefined);
    return this.next;
  }

  private async read(): Promise<void> {
    const began = this.clock.monotonicNanos();
    const known = this.snapshot;
    const fresh =
      (await readableVersion(this.pool)) === known?.version ? known : await loadPolicy(this.pool, known);
    this.snapshot = fresh;
    this.seenAt = began;
    if (fresh !== known) for (const listener of this.listeners) listener(fresh);
  }
}
