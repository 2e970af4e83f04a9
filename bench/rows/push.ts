import type { Ground } from '../ground/ground.js';
import type { BenchFloor } from '../ground/trading-floor.js';
import { closedLoop } from '../load/closed-loop.js';
import { latenciesOf, openLoop, type Latencies } from '../load/open-loop.js';
import { QuoteRing, type SendQuote } from '../load/quote-ring.js';
import { overStreams } from '../load/quoting.js';
import { atMost, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';

const IN_FLIGHT = 64;
const MAKERS = 128;
const FEW = 8;
const AUCTIONS = { count: 40, audience: 64 };
const FEW_AUCTIONS = { count: 2, audience: 4 };

interface QuoteEvent {
  readonly data?: { readonly quote?: { readonly quote_id: string; readonly revision: number } };
}

/** From the acknowledgement at one socket of a maker to the event at its other one. */
export const push: Row = {
  name: 'push',
  title: 'Acknowledgement to event at another socket, at half of the peak',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const watched = await WatchedMakers.open(await ground.floor(), settings);
    const peak = await closedLoop(IN_FLIGHT, settings.seconds, () => watched.ring.mutate());
    const runs: Latencies[] = [];
    for (let run = 1; run <= settings.runs; run += 1) {
      watched.forget();
      await openLoop(peak / 2, settings.seconds, () => watched.ring.mutate());
      runs.push(latenciesOf(watched.lags));
      settings.say(`run ${run} of ${settings.runs}: p50 ${runs.at(-1)?.p50.toFixed(2) ?? ''} ms`);
    }
    const check = atMost('p50', 'ms', median(runs.map(({ p50 }) => p50)), { minimum: 3, goal: 1 });
    return { checks: [check], details: { peak, runs, refusals: Object.fromEntries(watched.ring.refusals) } };
  },
};

class WatchedMakers {
  /** In milliseconds. An event before its acknowledgement counts as 0. */
  lags: number[] = [];
  readonly ring: QuoteRing;
  private readonly first = new Map<string, { readonly at: number; readonly what: 'ack' | 'event' }>();

  private constructor(
    send: SendQuote,
    auctions: readonly { readonly id: string; readonly makers: readonly number[] }[],
  ) {
    this.ring = new QuoteRing(auctions, `push-${performance.now()}`, async (command, caller) => {
      const answer = await send(command, caller);
      if (answer.quote !== undefined) this.note('ack', answer.quote);
      return answer;
    });
  }

  static async open(floor: BenchFloor, { quick }: Settings): Promise<WatchedMakers> {
    const makers = quick ? FEW : MAKERS;
    const { count, audience } = quick ? FEW_AUCTIONS : AUCTIONS;
    const speakers = await floor.streamsOf(floor.makers.slice(0, makers));
    const listeners = await floor.streamsOf(floor.makers.slice(0, makers));
    const watched = new WatchedMakers(
      overStreams(speakers),
      await floor.openAuctions(count, audience, makers),
    );
    for (const listener of listeners) {
      await listener.ask('subscribe', { channel: 'auctions' });
      listener.onFrame = (frame) => {
        const quote = (frame as QuoteEvent).data?.quote;
        if (frame.type === 'event' && quote !== undefined) watched.note('event', quote);
      };
    }
    return watched;
  }

  forget(): void {
    this.lags = [];
    this.first.clear();
  }

  private note(
    what: 'ack' | 'event',
    { quote_id: id, revision }: { quote_id: string; revision: number },
  ): void {
    const name = `${id} ${revision}`;
    const now = performance.now();
    const first = this.first.get(name);
    if (first === undefined) {
      this.first.set(name, { at: now, what });
      return;
    }
    this.first.delete(name);
    if (first.what !== what) this.lags.push(first.what === 'ack' ? now - first.at : 0);
  }
}
