import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Pool } from 'pg';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { PacedPoll, type PollPace } from '#libs/platform/time/paced-poll.js';
import { loadPolicy, readableVersion } from './load-policy.js';
import type { PolicySnapshot } from './policy-snapshot.js';

export interface PolicyWatchSettings extends PollPace {
  /** If no poll succeeds for longer than this, the policy counts as unknown and everything is refused. */
  readonly maxStalenessMillis: number;
}

export type CurrentPolicy = { readonly ok: true; readonly snapshot: PolicySnapshot } | Rejection;

const DEFAULTS: PolicyWatchSettings = { busyMillis: 200, idleMillis: 800, maxStalenessMillis: 3_000 };

/** Follows the policy. Answers from memory, but never with a policy older than the limit. */
export class PolicyWatch {
  private snapshot: PolicySnapshot | undefined;
  /** When the last successful poll began. The snapshot is at least this recent. */
  private seenAt = 0n;
  private readonly polls: PacedPoll;
  /** Settles when the running poll ends, whether it fails or not. */
  private running: Promise<void> = Promise.resolve();
  /** The next poll, which has not begun. */
  private next: Promise<void> | undefined;
  private readonly listeners = new Set<(snapshot: PolicySnapshot) => void>();
  private onFault: (error: unknown) => void = () => undefined;
  private isFailing = false;

  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
    /**
     * Whether changes must be noticed even if no caller asks: active quotes must be withdrawn when their maker is
     * frozen.
     */
    private readonly isNeeded: () => boolean = () => true,
    private readonly settings: PolicyWatchSettings = DEFAULTS,
  ) {
    this.polls = new PacedPoll(clock, settings, () => this.poll());
  }

  /** Polls once, then regularly. A first failure is not fatal: everything is refused until a poll succeeds. */
  async start(): Promise<void> {
    await this.poll();
    this.polls.start();
  }

  stop(): void {
    this.polls.stop();
  }

  current(): CurrentPolicy {
    this.polls.wanted();
    const age = this.clock.monotonicNanos() - this.seenAt;
    if (this.snapshot === undefined || age > BigInt(this.settings.maxStalenessMillis) * NANOS_PER_MILLI) {
      return rejected('AUTHORITY_EVIDENCE_STALE', 'The economic policy cannot be verified at present.');
    }
    return { ok: true, snapshot: this.snapshot };
  }

  /** The last snapshot, of any age. No decision may rest on it. */
  get latest(): PolicySnapshot | undefined {
    return this.snapshot;
  }

  /** Polls now, for a caller that has just changed the policy and depends on the change. */
  async freshen(): Promise<void> {
    await this.refresh().catch(() => undefined);
  }

  /** Notified of every new version, for those who must act when a maker is frozen or a market closes. */
  onChange(listener: (snapshot: PolicySnapshot) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Notified of the first failure in a row of failed polls. */
  tellFaults(listener: (error: unknown) => void): void {
    this.onFault = listener;
  }

  private async poll(): Promise<void> {
    try {
      await this.refresh();
      this.isFailing = false;
    } catch (error) {
      // No need to tell callers: current() refuses when the limit has passed.
      if (!this.isFailing) this.onFault(error);
      this.isFailing = true;
    }
    if (this.isNeeded()) this.polls.wanted();
  }

  /**
   * Polls run one after another, so that a slow one never replaces a later result. Callers that come meanwhile
   * share the next poll.
   */
  private refresh(): Promise<void> {
    this.next ??= this.running.then(() => {
      this.next = undefined;
      return this.read();
    });
    this.running = this.next.catch(() => undefined);
    return this.next;
  }

  private async read(): Promise<void> {
    const began = this.clock.monotonicNanos();
    const known = this.snapshot;
    const latest =
      (await readableVersion(this.pool)) === known?.version ? known : await loadPolicy(this.pool, known);
    this.snapshot = latest;
    this.seenAt = began;
    if (latest !== known) for (const listener of this.listeners) listener(latest);
  }
}
