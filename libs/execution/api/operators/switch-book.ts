import type { Pool, PoolClient } from 'pg';
import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { TradingMode } from '../../protocol/cell-protocol.js';
import type { OrderKind, OrderSide } from '../../rules/amounts.js';
import type { TimeInForce, VenueId } from '../../rules/venues.js';

interface SwitchRow {
  readonly exchange_id: string | null;
  readonly side: string | null;
  readonly kind: string | null;
  readonly time_in_force: string | null;
  readonly user_id: string | null;
  readonly mode: TradingMode;
  readonly since: Date;
  readonly resumes_at: Date | null;
}

export interface SwitchPlace {
  readonly exchangeId?: VenueId;
  readonly side?: OrderSide;
  readonly kind?: OrderKind;
  readonly timeInForce?: TimeInForce;
  readonly userId?: string;
}

const COLUMNS = 'exchange_id, side, kind, time_in_force, user_id, mode, since, resumes_at';
const SET = `
  insert into execution_control.switches (exchange_id, side, kind, time_in_force, user_id, mode, resumes_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (exchange_id, side, kind, time_in_force, user_id) do update
    set mode = excluded.mode, resumes_at = excluded.resumes_at
  returning ${COLUMNS}`;
const LIST = `
  select ${COLUMNS} from execution_control.switches where mode <> 'on' order by since, exchange_id, user_id limit 10000`;
const HALTED = `
  select exchange_id from execution_control.switches
  where mode = 'halted' and side is null and kind is null and time_in_force is null and user_id is null`;
const FRESH_NANOS = 1_000n * NANOS_PER_MILLI;

/** Writes and reads the operators' switches. Cells enforce them. */
export class SwitchBook {
  private halted: { readonly venues: ReadonlySet<string | null>; readonly at: bigint } | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly clock: Pick<Clock, 'monotonicNanos'>,
  ) {}

  async set(
    client: PoolClient,
    target: SwitchPlace,
    mode: TradingMode,
    resumesAt: string | undefined,
  ): Promise<Record<string, unknown>> {
    const { exchangeId, side, kind, timeInForce, userId } = target;
    const { rows } = await client.query<SwitchRow>(SET, [
      ...[exchangeId ?? null, side ?? null, kind ?? null, timeInForce ?? null, userId ?? null],
      ...[mode, resumesAt ?? null],
    ]);
    this.halted = undefined;
    const [row] = rows;
    if (row === undefined) throw new Error('the switch that was set is missing');
    return shown(row);
  }

  async list(): Promise<readonly Record<string, unknown>[]> {
    return (await this.pool.query<SwitchRow>(LIST)).rows.map(shown);
  }

  /** Whether a switch halts the whole venue. The answer may be one second old. */
  async isHalted(venue: VenueId): Promise<boolean> {
    const now = this.clock.monotonicNanos();
    if (this.halted === undefined || now - this.halted.at > FRESH_NANOS) {
      const { rows } = await this.pool.query<Pick<SwitchRow, 'exchange_id'>>(HALTED);
      this.halted = { venues: new Set(rows.map(({ exchange_id }) => exchange_id)), at: now };
    }
    return this.halted.venues.has(venue) || this.halted.venues.has(null);
  }
}

function shown(row: SwitchRow): Record<string, unknown> {
  return {
    ...(row.exchange_id === null ? {} : { exchangeId: row.exchange_id }),
    ...(row.side === null ? {} : { side: row.side }),
    ...(row.kind === null ? {} : { kind: row.kind }),
    ...(row.time_in_force === null ? {} : { timeInForce: row.time_in_force }),
    ...(row.user_id === null ? {} : { userId: row.user_id }),
    ...{ mode: row.mode, since: row.since.toISOString() },
    ...(row.resumes_at === null ? {} : { resumesAt: row.resumes_at.toISOString() }),
  };
}
