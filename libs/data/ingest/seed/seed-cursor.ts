import type { Pool } from 'pg';
import type { WorldOptions } from './world.js';

/** The world of a feed, and the time up to which it was sent, in microseconds. */
export interface SeedCursor extends WorldOptions {
  readonly told: number;
}

const FORM = /^seed\/1 (\d{1,16}) (\d{1,16}) (\d{1,6}(?:\.\d{1,6})?) (.*)$/s;

export function writeSeedCursor({ start, told, scale, seed }: SeedCursor): string {
  return `seed/1 ${String(start)} ${String(told)} ${String(scale)} ${seed}`;
}

/** Throws for a cursor with another format: a different world would contradict the events already sent. */
export function readSeedCursor(text: string): SeedCursor {
  const [, start, told, scale, seed] = FORM.exec(text) ?? [];
  if (seed === undefined) throw new Error('the cursor of the seed source is invalid');
  return { seed, start: Number(start), told: Number(told), scale: Number(scale) };
}

/** The cursor of any of its feeds; undefined before the first start. */
export async function storedSeedCursor(pool: Pool): Promise<string | undefined> {
  const { rows } = await pool.query<{ cursor: string }>(
    `select cursor from data.cursors where source = 'seed' order by shard limit 1`,
  );
  return rows[0]?.cursor;
}
