import type { Pool } from 'pg';
import { ConfigFault } from '#libs/platform/process/start-fault.js';

const INSERT = `
  insert into execution_control.cell_count (cells) values ($1) on conflict do nothing`;
const READ = 'select cells from execution_control.cell_count';

/** The first start on a database fixes the number of cells. With another number, users would be looked for in the wrong cells. */
export async function checkCellCount(pool: Pool, cells: number): Promise<void> {
  await pool.query(INSERT, [cells]);
  const { rows } = await pool.query<{ readonly cells: number }>(READ);
  const stored = rows[0]?.cells;
  if (stored === cells) return;
  throw new ConfigFault([`CELLS is wrong: it is ${cells}, but this database was created with ${stored}`]);
}
