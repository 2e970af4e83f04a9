import { messagesOf } from '#libs/edge/documents/asyncapi-types.js';
import { BATCH, RequestBatches } from './batches.js';
import { Crashes } from './crashes.js';
import { Judge, NO_ANSWER, SILENT } from './judge.js';
import { ServiceState } from './state.js';
import { Stillness } from './stillness.js';
import { Streams } from './streams.js';
import type { FuzzTarget } from './target.js';

const STREAMS_EVERY = 4;
/** A process is so busy that it answers nothing: each further batch would only wait for it. */
const SILENCES = 24;

export interface Fuzzed {
  readonly requests: number;
  readonly frames: number;
  /** How many batches and streams were held against the state, and how many could not be. */
  readonly judged: number;
  readonly notJudged: number;
  readonly judge: Judge;
  /** Operations and messages of which nothing but refusals was seen. */
  readonly refusedAlways: readonly string[];
  readonly mutations: ReadonlyMap<string, number>;
}

/** So many hostile requests, and streams between them. */
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

/** Of all that the documents know. */
function namesIn({ http, stream }: FuzzTarget): readonly string[] {
  const operations = Object.values(http.paths).flatMap((methods) => Object.values(methods));
  const messages = messagesOf(stream, 'receive').map(({ name }) => name);
  return [...operations.map(({ operationId }) => operationId), ...messages];
}
