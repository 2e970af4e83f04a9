import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Ground } from '../ground/ground.js';
import { atMost, type RowOutcome, type Row, type Settings } from '../row.js';
import { slope } from '../statistics.js';

const SIZES = [10_000, 40_000, 70_000, 100_000];
const QUICK_SIZES = [200, 400];
const BYTES_PER_KIB = 1_024;

export interface MemoryPoint {
  readonly auctions: number;
  readonly heap: number;
  readonly resident: number;
}

/** The memory of an open auction with ten quotes in an owner: the growth with each further auction. */
export const memory: Row = {
  name: 'memory',
  title: 'Memory of an open auction with 10 quotes, slope from 10,000 to 100,000',
  async run(_: Ground, { quick, say }: Settings): Promise<RowOutcome> {
    const points: MemoryPoint[] = [];
    for (const size of quick ? QUICK_SIZES : SIZES) {
      points.push(await measured(size));
      say(JSON.stringify(points.at(-1)));
    }
    const kib = (of: (point: MemoryPoint) => number): number =>
      slope(points.map((point) => [point.auctions, of(point)])) / BYTES_PER_KIB;
    return {
      checks: [
        atMost(
          'heap after collection',
          'KiB',
          kib(({ heap }) => heap),
          { minimum: 8, goal: 5 },
        ),
        atMost(
          'resident',
          'KiB',
          kib(({ resident }) => resident),
          { minimum: 16, goal: 10 },
        ),
      ],
      details: { points, bare_objects_kib: { heap: 3.4, resident: 8.5 } },
    };
  },
};

/** In a process of its own, so that one size does not affect the next. */
async function measured(auctions: number): Promise<MemoryPoint> {
  const script = fileURLToPath(new URL('../load/full-book.js', import.meta.url));
  const args = ['--expose-gc', '--max-old-space-size=8192', script, String(auctions)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(output) as MemoryPoint;
}
