import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { idKeysIn } from '#apps/cli/id-keys.js';
import { instantFromNanos, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import { encodeCellEvent } from '#libs/execution/protocol/event-codec.js';
import type { CellEvent } from '#libs/execution/rules/events.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { orderHistory } from '../load/order-history.js';

const CELL = 0;
const NAME = 'cell-0';
const USERS = 100;
const AT_ONCE = 1_000;
const DOLLARS = 1_000_000_000_000n;
const STEPS_PER_ORDER = 8;
const WITHIN_MS = 300_000;

/** Writes this many events of orders into the journal of the first cell, while that cell is stopped. */
export async function fillCellJournal(cluster: OwnedCluster, events: number): Promise<void> {
  const keys = await idKeysIn(cluster.dataDir);
  if (keys === undefined) throw new Error('the cluster has no keys');
  const clock = new SystemClock();
  const { database_url: url } = cluster.file;
  const seals = new RecordMacs('execution', keys);
  const journal = new PostgresJournal({ family: 'execution', url, clock, opener: 'bench', seals });
  // While this process holds the journal, no cell can open it.
  const kept = await journal.keep(CELL);
  const { pid } = cluster.process(NAME);
  cluster.kill(NAME);
  const writer = await kept.open();
  const now = clock.epochNanos();
  const first = now - BigInt(events * STEPS_PER_ORDER) * NANOS_PER_MILLI;
  const from = (step: number): Instant => instantFromNanos(first + (BigInt(step) * NANOS_PER_MILLI) / 8n);
  const payloads: string[] = [];
  for (const event of historiesOf(events, from)) {
    payloads.push(encodeCellEvent(event));
    if (payloads.length === AT_ONCE) await writer.append(payloads.splice(0));
  }
  if (payloads.length > 0) await writer.append(payloads);
  const { sequence } = writer.head;
  await writer.close();
  await cluster.restartOf(NAME, pid, WITHIN_MS);
  await projected(url, sequence);
}

function* historiesOf(events: number, from: (step: number) => Instant): Generator<CellEvent> {
  const users = Array.from({ length: USERS }, () => randomUUID());
  let made = 0;
  for (const [number, user_id] of users.entries()) {
    const at = from(number - users.length);
    const base = {
      type: 'BALANCE_MOVED',
      at,
      occurred_at: at,
      user_id,
      venue: 'venue_b',
      movement: 'DEPOSIT',
    } as const;
    yield { ...base, entry_id: randomUUID(), asset: 'USD', shard: 0, amount: DOLLARS };
    made += 1;
  }
  for (let number = 0; made < events; number += 1) {
    const user_id = users[number % users.length] ?? '';
    for (const event of orderHistory({ number, user_id, from })) {
      yield event;
      made += 1;
    }
  }
}

/** Waits for the projector, so that it does not compete with the measurement for the processors. */
async function projected(url: string, sequence: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await eventually(async () => {
      const { rows } = await client.query<{ sequence: string }>(
        'select sequence from execution.projection_offsets where shard = $1',
        [CELL],
      );
      const at = Number(rows[0]?.sequence ?? 0);
      if (at < sequence) throw new Error(`projected up to ${at} of ${sequence}`);
    }, WITHIN_MS);
  } finally {
    await client.end();
  }
}
