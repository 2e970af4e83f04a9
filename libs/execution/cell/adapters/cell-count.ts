import type { Pool } from 'pg';
import { ConfigFault } from '#libs/platform/process/start-fault.js';

const KEEP = `
  insert into execution_control.cell_count (cells) values ($1) on conflict do nothing`;
const READ = 'select cells from execution_control.cell_count';

/** The first start on a database says how many cells there are. With another number users would be looked for where they are not. */
export async function checkCellCount(pool: Pool, cells: number): Promise<void> {
  await pool.query(KEEP, [cells]);
  const { rows } = await pool.query<{ readonly cells: number }>(READ);
  const kept = rows[0]?.cells;
  if (kept === cells) return;
  throw new ConfigFault([`CELLS is wrong: it is ${cells}, and this database was begun with ${kept}`]);
}
