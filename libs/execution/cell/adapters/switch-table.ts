import type { Pool } from 'pg';
import { instantFromNanos, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import type { OrderKind, OrderSide } from '../../rules/amounts.js';
import type { Mode, Switch } from '../../rules/modes.js';
import { venueNamed, type TimeInForce } from '../../rules/venues.js';
import type { SwitchSource } from '../switchboard.js';

interface SwitchRow {
  readonly exchange_id: string | null;
  readonly side: OrderSide | null;
  readonly kind: OrderKind | null;
  readonly time_in_force: TimeInForce | null;
  readonly user_id: string | null;
  readonly mode: Mode;
  readonly since: Date;
  readonly resumes_at: Date | null;
}

const READ = `
  select exchange_id, side, kind, time_in_force, user_id, mode, since, resumes_at
  from execution_control.switches where mode <> 'on'`;

/** Reads the operators' switches, which gateways write. */
export class SwitchTable implements SwitchSource {
  constructor(private readonly pool: Pool) {}

  async read(): Promise<readonly Switch[]> {
    const { rows } = await this.pool.query<SwitchRow>(READ);
    return rows.map(switchOf);
  }
}

function switchOf(row: SwitchRow): Switch {
  const venue = row.exchange_id === null ? undefined : venueNamed(row.exchange_id)?.venue;
  return {
    ...(venue === undefined ? {} : { venue }),
    ...(row.side === null ? {} : { side: row.side }),
    ...(row.kind === null ? {} : { kind: row.kind }),
    ...(row.time_in_force === null ? {} : { time_in_force: row.time_in_force }),
    ...(row.user_id === null ? {} : { user_id: row.user_id }),
    ...{ mode: row.mode, since: instantOf(row.since) },
    ...(row.resumes_at === null ? {} : { resumes_at: instantOf(row.resumes_at) }),
  };
}

function instantOf(at: Date): Instant {
  return instantFromNanos(BigInt(at.getTime()) * NANOS_PER_MILLI);
}
