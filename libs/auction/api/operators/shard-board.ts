import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRouter } from '../owner-router.js';
import type { OwnerProbe } from './owner-probe.js';
import type { JournalBook, KnownOfShard } from './journal-book.js';

export type ShardState = 'ACTIVE' | 'DRAINING' | 'RECOVERING' | 'UNREACHABLE';

/** What operators see of a shard. What nobody can tell at present is absent. */
export interface ShardRow extends Partial<KnownOfShard> {
  readonly shard: number;
  readonly state: ShardState;
  readonly active_auctions?: number;
  readonly clock_offset_ms?: number;
  /** Of the last one. */
  readonly recovery?: { readonly events: number; readonly ms: number };
}

export interface BoardPorts {
  readonly owners: Pick<OwnerRouter, 'ask' | 'shards'>;
  readonly probe: Pick<OwnerProbe, 'condition'>;
  readonly book: Pick<JournalBook, 'known'>;
  readonly clock: Clock;
}

/** An owner that has not answered by now may be dead: what can be known without it is looked up beside. */
const DOUBT_MILLIS = 200;
/** All answers are in by then, or the row is made without them: who runs a service in trouble cannot wait. */
const PATIENCE_MILLIS = 700;

/** The shards as their owners tell, and where an owner does not tell, as its listener and the database do. */
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
    const asked = owners.ask(shard, { op: 'shard_status' }).then((reply) => rowOf(shard, reply));
    const prompt = await this.within(DOUBT_MILLIS, asked);
    if (prompt !== undefined) return prompt;
    const rest = PATIENCE_MILLIS - DOUBT_MILLIS;
    const [late, outside] = await Promise.all([this.within(rest, asked), this.fromOutside(shard, rest)]);
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

/** What a listener names that does not come up, or will not. */
const LOST: ReadonlySet<string> = new Set(['journal_failed', 'check_failed', 'check_timed_out']);

/** An owner that answers for its health and not on its link is on its way up or down; ready, it is about to be linked again. */
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

/** An owner says more of itself than operators were promised: only that is passed on. */
function rowOf(shard: number, { status, body }: LinkReply): ShardRow | undefined {
  if (status !== 200) return undefined;
  const told = JSON.parse(body) as ShardRow;
  const fields = PROMISED.filter((name) => name in told).map((name) => [name, told[name]]);
  return { shard, state: told.state, ...(Object.fromEntries(fields) as Partial<ShardRow>) };
}
