import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRouter } from '../owner-router.js';
import type { OwnerProbe } from './owner-probe.js';
import type { JournalBook, KnownOfShard } from './journal-book.js';

export type ShardState = 'ACTIVE' | 'DRAINING' | 'RECOVERING' | 'UNREACHABLE';

/** What operators see of a shard. Fields that cannot be determined are absent. */
export interface ShardRow extends Partial<KnownOfShard> {
  readonly shard: number;
  readonly state: ShardState;
  readonly active_auctions?: number;
  readonly clock_offset_ms?: number;
  /** The last recovery. */
  readonly recovery?: { readonly events: number; readonly ms: number };
}

export interface BoardPorts {
  readonly owners: Pick<OwnerRouter, 'ask' | 'shards'>;
  readonly probe: Pick<OwnerProbe, 'condition'>;
  readonly book: Pick<JournalBook, 'known'>;
  readonly clock: Clock;
}

/** After this time the owner may be dead, so other sources are asked as well. */
const DOUBT_MILLIS = 200;
/** After this time the row is made from what has arrived: an operator in trouble cannot wait. */
const PATIENCE_MILLIS = 700;

/** The state of the shards, from their owners. If an owner does not answer, from its listener and the database. */
export class ShardBoard {
  constructor(private readonly ports: BoardPorts) {}

  rows(): Promise<ShardRow[]> {
    return Promise.all(this.ports.owners.shards.map((shard) => this.row(shard)));
  }

  has(shard: number): boolean {
    return this.ports.owners.shards.includes(shard);
  }

  async row(shard: number): Promise<ShardRow> {
    const { owners } = this.ports;
    const request = owners.ask(shard, { op: 'shard_status' }).then((reply) => rowOf(shard, reply));
    const prompt = await this.within(DOUBT_MILLIS, request);
    if (prompt !== undefined) return prompt;
    const rest = PATIENCE_MILLIS - DOUBT_MILLIS;
    const [late, outside] = await Promise.all([this.within(rest, request), this.fromOutside(shard, rest)]);
    return late ?? outside;
  }

  private async fromOutside(shard: number, millis: number): Promise<ShardRow> {
    const { book, probe } = this.ports;
    const [condition, known] = await Promise.all([
      this.within(millis, probe.condition(shard)),
      this.within(millis, book.known(shard)),
    ]);
    return { shard, state: stateOf(condition), ...known };
  }

  private async within<T>(millis: number, answer: Promise<T>): Promise<T | undefined> {
    const failed = answer.catch(() => undefined);
    return Promise.race([failed, pause(this.ports.clock, millis).then(() => undefined)]);
  }
}

/** Conditions of a listener whose owner will not serve. */
const LOST: ReadonlySet<string> = new Set(['journal_failed', 'check_failed', 'check_timed_out']);

/**
 * An owner that answers on its listener but not on its link is starting or stopping. If it is ready, it will be
 * linked soon.
 */
function stateOf(condition: string | undefined): ShardState {
  if (condition === undefined || LOST.has(condition)) return 'UNREACHABLE';
  return condition === 'draining' ? 'DRAINING' : 'RECOVERING';
}

const PROMISED = [
  'epoch',
  'journal_head',
  'projection_lag_events',
  'active_auctions',
  'clock_offset_ms',
  'recovery',
] as const satisfies (keyof ShardRow)[];

/** An owner's status has more fields than operators are promised; only the promised ones are passed on. */
function rowOf(shard: number, { status, body }: LinkReply): ShardRow | undefined {
  if (status !== 200) return undefined;
  const ownerStatus = JSON.parse(body) as ShardRow;
  const fields = PROMISED.filter((name) => name in ownerStatus).map((name) => [name, ownerStatus[name]]);
  return { shard, state: ownerStatus.state, ...(Object.fromEntries(fields) as Partial<ShardRow>) };
}
