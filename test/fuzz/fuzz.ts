import { messagesOf } from '#libs/edge/documents/asyncapi-types.js';
import type { Random } from '../simulator/kernel/random.js';
import { Crashes } from './crashes.js';
import { BATCH, HostileBatches } from './hostile-batches.js';
import { HostileStreams } from './hostile-streams.js';
import { Judge, NO_ANSWER } from './judge.js';
import { Leavers } from './leavers.js';
import { heapsOf, MemoryWatch, type Sizes } from './memory.js';
import { Books } from './state.js';
import { Stillness, type Verdict } from './stillness.js';
import type { Target } from './target.js';

const STREAMS_EVERY = 4;
const WARM_UP = 0.3;
/** In each of which a leak must show. */
const PARTS = 4;
const SILENCES = 24;

export interface Fuzzed {
  readonly requests: number;
  readonly frames: number;
  /** Of which what was refused, all or a part, may have changed nothing. */
  readonly batches: Verdicts;
  readonly streams: Verdicts;
  readonly putBack: number;
  /** Who has reset the connection behind a request. */
  readonly leavers: number;
  readonly judge: Judge;
  /** Operations and messages of which nothing but refusals was seen. */
  readonly refusedAlways: readonly string[];
  readonly spoils: ReadonlyMap<string, number>;
  readonly grown: Sizes;
  readonly steady: Sizes;
}

export type Verdicts = ReadonlyMap<Verdict, number>;

/** So many hostile requests, and streams between them. */
export async function fuzz(target: Target, count: number, random: Random): Promise<Fuzzed> {
  const { cluster, furniture } = target;
  const judge = new Judge(target.http);
  const books = new Books(cluster.file.database_url, target.shown);
  const stillness = new Stillness(books, judge, furniture);
  const batches = new HostileBatches(target, judge, stillness, random.fork('requests'));
  const streams = new HostileStreams(target, judge, stillness, random.fork('streams'));
  const leavers = new Leavers(target, random.fork('leavers'));
  const verdicts = { batches: new Map<Verdict, number>(), streams: new Map<Verdict, number>() };
  const crashes = new Crashes(cluster, judge);
  const memory = new MemoryWatch(() => heapsOf(cluster), books);
  let [sent, looks] = [0, 0];
  for (let batch = 0; sent < count && !crashes.isOver && !isSilent(judge); batch += 1) {
    if (sent >= count * (WARM_UP + ((1 - WARM_UP) * looks) / PARTS) && !judge.knowsSilence) {
      // A process that has just begun holds less than the one before, whatever that means.
      await lookAt(memory, crashes, batches);
      looks += 1;
    }
    note(
      verdicts.batches,
      await crashes.watch(
        () => batches.play(),
        () => batches.latest,
      ),
    );
    sent += BATCH;
    await crashes.watch(
      () => leavers.play(),
      () => leavers.latest,
    );
    if (batch % STREAMS_EVERY !== 0) continue;
    note(
      verdicts.streams,
      await crashes.watch(
        () => streams.play(),
        () => streams.latest,
      ),
    );
  }
  // Whoever says nothing any more cannot be asked how much he holds.
  if (!judge.knowsSilence) await lookAt(memory, crashes, batches);
  if (crashes.none) {
    for (const fault of memory.faults()) judge.add(fault, 'all of it');
  }
  await books.close();
  return {
    requests: sent,
    frames: streams.frames,
    ...verdicts,
    putBack: furniture.putBackTimes,
    leavers: leavers.count,
    judge,
    refusedAlways: names(target).filter((name) => !judge.reached.has(name)),
    spoils: batches.spoils,
    grown: memory.grown(),
    steady: memory.steady(),
  };
}

/** Somebody is so busy that he answers nobody: each further batch would only wait for him. */
function isSilent(judge: Judge): boolean {
  return judge.knowsSilence && (judge.statuses.get(NO_ANSWER) ?? 0) >= SILENCES;
}

/** Of what has just ended nobody may have heard yet. */
async function lookAt(memory: MemoryWatch, crashes: Crashes, batches: HostileBatches): Promise<void> {
  if (!crashes.none || crashes.isOver) return;
  const look = async (): Promise<Verdict> => {
    await memory.look();
    return 'NOTHING REFUSED';
  };
  await crashes.watch(look, () => batches.latest);
}

function note(verdicts: Map<Verdict, number>, verdict: Verdict): void {
  verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
}

/** All that the documents know. */
function names({ http, stream }: Target): readonly string[] {
  const operations = Object.values(http.paths).flatMap((methods) => Object.values(methods));
  const messages = messagesOf(stream, 'receive').map(({ name }) => name);
  return [...operations.map(({ operationId }) => operationId), ...messages];
}
