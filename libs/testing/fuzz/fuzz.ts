import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../simulator/kernel/random.js';
import { HostileRequests } from './hostile-requests.js';
import { HostileStreams } from './hostile-streams.js';
import { Judge } from './judge.js';
import { heapsOf, MemoryWatch, type Sizes } from './memory.js';
import { Books } from './state.js';
import type { Target } from './target.js';
import { bytesOf, exchange } from './wire.js';

const BATCH = 8;
const STREAMS_EVERY = 4;
/** What an accepted command sets in motion is over by then. */
const AFTER_EFFECTS_MS = 200;
const WARM_UP = 0.3;
/** In each of which a leak must show. */
const PARTS = 4;

export interface Fuzzed {
  readonly requests: number;
  readonly frames: number;
  /** Batches of which everything was refused, so that nothing may have changed. */
  readonly pureBatches: number;
  readonly judge: Judge;
  readonly spoils: ReadonlyMap<string, number>;
  readonly grown: Sizes;
  readonly steady: Sizes;
}

/** So many hostile requests, and streams between them. */
export async function fuzz(target: Target, count: number, random: Random): Promise<Fuzzed> {
  const { cluster } = target;
  const judge = new Judge(target.http);
  const books = new Books(cluster.file.database_url);
  const requests = new HostileRequests(target, random.fork('requests'));
  const streams = new HostileStreams(target, judge, random.fork('streams'));
  const pids = pidsOf(target);
  const spoils = new Map<string, number>();
  let [sent, frames, pureBatches] = [0, 0, 0];
  const memory = new MemoryWatch(() => heapsOf(cluster), books);
  let looks = 0;
  for (let batch = 0; sent < count; batch += 1) {
    if (sent >= count * (WARM_UP + ((1 - WARM_UP) * looks) / PARTS)) {
      await memory.look();
      looks += 1;
    }
    if (await playBatch(target, requests, judge, books, spoils)) pureBatches += 1;
    sent += BATCH;
    if (batch % STREAMS_EVERY !== 0) continue;
    frames += await streams.play();
    await sleep(AFTER_EFFECTS_MS);
  }
  await memory.look();
  for (const fault of memory.faults()) judge.add(fault, 'all of it');
  for (const [name, pid] of pidsOf(target)) {
    if (pids.get(name) !== pid) judge.add(`crash: ${name} is another process`, 'all of it');
  }
  await books.close();
  return {
    requests: sent,
    frames,
    pureBatches,
    judge,
    spoils,
    grown: memory.grown(),
    steady: memory.steady(),
  };
}

/** True when all of it was refused, which must then have changed nothing. */
async function playBatch(
  target: Target,
  requests: HostileRequests,
  judge: Judge,
  books: Books,
  spoils: Map<string, number>,
): Promise<boolean> {
  const before = await books.look();
  const drawn = Array.from({ length: BATCH }, () => requests.draw());
  for (const { spoils: own } of drawn) for (const name of own) spoils.set(name, (spoils.get(name) ?? 0) + 1);
  const statuses = await Promise.all(
    drawn.map(async ({ operationId, request, spoils: own }, index) => {
      const bytes = bytesOf(request);
      const port = target.ports[index % target.ports.length] ?? 0;
      const how = `${operationId} (${own.join(', ')}): ${bytes
        .toString('latin1')
        .replace(/Bearer [\w.-]{20,}/g, 'Bearer ...')
        .slice(0, 900)}`;
      const answer = await exchange(port, bytes, request.isIncomplete);
      if (answer === undefined) judge.count('no answer');
      else judge.answer(request, answer, how);
      if (answer !== undefined && !request.isIncomplete && judge.isSlow(answer)) {
        const again = await exchange(port, bytes, false);
        if (again !== undefined && judge.isSlow(again)) judge.slow(again.millis, how);
      }
      return answer?.status ?? 400;
    }),
  );
  if (statuses.some((status) => status < 400)) {
    await sleep(AFTER_EFFECTS_MS);
    return false;
  }
  const after = await books.look();
  const how = drawn.map(({ request }) => bytesOf(request).toString('latin1').slice(0, 300)).join('\n---\n');
  if (after.tables !== before.tables) judge.add('something changed although all was refused', how);
  for (const { type, data } of await books.eventsSince(before)) {
    if (!type.endsWith('_REJECTED') && data?.by !== 'DISCONNECT' && !type.startsWith('CONNECTION'))
      judge.add(`${type} was journaled although all was refused`, how);
  }
  return true;
}

function pidsOf({ cluster }: Target): Map<string, number> {
  return new Map(cluster.file.processes.map(({ name, pid }) => [name, pid]));
}
