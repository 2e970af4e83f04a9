import { messagesOf } from '#libs/edge/documents/asyncapi-types.js';
import { BATCH, RequestBatches } from './batches.js';
import { Crashes } from './crashes.js';
import { Judge, NO_ANSWER, SILENT } from './judge.js';
import { ServiceState } from './state.js';
import { Stillness } from './stillness.js';
import { Streams } from './streams.js';
import type { FuzzTarget } from './target.js';

const STREAMS_EVERY = 4;
/** After this many, a process answers nothing, and each further batch would only wait. */
const SILENCES = 24;

export interface Fuzzed {
  readonly requests: number;
  readonly frames: number;
  /** How many batches and streams were compared with the state, and how many could not be. */
  readonly judged: number;
  readonly notJudged: number;
  readonly judge: Judge;
  /** Operations and messages that were only ever refused. */
  readonly refusedAlways: readonly string[];
  readonly mutations: ReadonlyMap<string, number>;
}

/** Sends this many hostile requests, with streams in between. */
export async function fuzz(target: FuzzTarget, count: number, seed: number): Promise<Fuzzed> {
  const { cluster, fixtures } = target;
  const judge = new Judge(target.http);
  const books = new ServiceState(cluster.file.database_url, fixtures);
  const stillness = new Stillness(books, judge, fixtures);
  const batches = new RequestBatches(target, judge, stillness, seed);
  const streams = new Streams(target, judge, stillness, seed);
  const crashes = new Crashes(cluster, judge);
  const isOver = (): boolean =>
    crashes.isOver || (judge.knows(SILENT) && (judge.statuses.get(NO_ANSWER) ?? 0) >= SILENCES);
  const judged = { true: 0, false: 0 };
  let sent = 0;
  for (let batch = 0; sent < count && !isOver(); batch += 1) {
    for (const played of batch % STREAMS_EVERY === 0 ? [batches, streams] : [batches]) {
      if (isOver()) break;
      const isJudged = await crashes.watch(
        () => played.play(),
        () => played.latest,
      );
      judged[`${isJudged === true}`] += 1;
    }
    sent += BATCH;
  }
  await books.close();
  return {
    requests: sent,
    frames: streams.frames,
    judged: judged.true,
    notJudged: judged.false,
    judge,
    refusedAlways: namesIn(target).filter((name) => !judge.reached.has(name)),
    mutations: batches.mutations,
  };
}

/** All operations and messages of the documents. */
function namesIn({ http, stream }: FuzzTarget): readonly string[] {
  const operations = Object.values(http.paths).flatMap((methods) => Object.values(methods));
  const messages = messagesOf(stream, 'receive').map(({ name }) => name);
  return [...operations.map(({ operationId }) => operationId), ...messages];
}
