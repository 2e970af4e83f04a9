import type { Pool } from 'pg';
import { LABELS_SHARD, PROVIDERS, type Provider } from '../rules/providers.js';

export type AlarmKind =
  'quarantine' | 'gap' | 'conflict' | 'refused' | 'volume_apart' | 'candle_apart' | 'stale_book';

export interface Alarm {
  readonly kind: AlarmKind;
  /** Microseconds. */
  readonly at: number;
  readonly detail: string;
}

/** Alarms kept for each provider. */
const KEPT_ALARMS = 100;
/** Quarantined bodies kept for all providers together. */
const KEPT_BODIES = 100;
const MOST_DETAIL_CHARS = 1_000;
const MOST_BODY_CHARS = 1_000_000;

/** Keeps the newest alarms and quarantined bodies. */
export class AlarmTable {
  constructor(private readonly pool: Pool) {}

  async add(shard: number, { kind, at, detail }: Alarm): Promise<void> {
    const provider = shard === LABELS_SHARD ? null : shard;
    await this.pool.query(`insert into data.alarms (provider, kind, at, detail) values ($1, $2, $3, $4)`, [
      ...[provider, kind, at, storable(detail, MOST_DETAIL_CHARS)],
    ]);
    await this.pool.query(
      `delete from data.alarms where provider is not distinct from $1 and alarm_no <= (
         select alarm_no from data.alarms where provider is not distinct from $1 order by alarm_no desc offset $2 limit 1)`,
      [provider, KEPT_ALARMS],
    );
  }

  /** Newest first. */
  async of(provider: Provider): Promise<Alarm[]> {
    const { rows } = await this.pool.query<Alarm>(
      'select kind, at, detail from data.alarms where provider = $1 order by alarm_no desc',
      [PROVIDERS.indexOf(provider)],
    );
    return rows;
  }

  /** Keeps a body that is not valid, so that an operator can see what is wrong. */
  async quarantine(
    shard: number,
    { at, reason, body }: { readonly at: number; readonly reason: string; readonly body: string },
  ): Promise<void> {
    await this.pool.query(
      `insert into data.quarantine (provider, at, reason, body) values ($1, $2, $3, $4)`,
      [...[shard, at, storable(reason, MOST_DETAIL_CHARS), storable(body, MOST_BODY_CHARS)]],
    );
    await this.pool.query(
      `delete from data.quarantine where quarantine_no <= (
         select quarantine_no from data.quarantine order by quarantine_no desc offset $1 limit 1)`,
      [KEPT_BODIES],
    );
  }
}

/** Makes any text storable, because a body may contain anything. */
function storable(text: string, most: number): string {
  return text.slice(0, most).toWellFormed().replaceAll('\0', '\ufffd');
}
