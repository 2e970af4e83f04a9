import {
  ReservationFault,
  type ReservationDesk,
  type ReserveRequest,
} from '#libs/auction/admission/reservation-desk.js';
import { instantFromNanos, type Instant } from '#libs/base/instant.js';
import { opened } from '#libs/auction/rules/decide/plan-create.js';
import { submitted } from '#libs/auction/rules/decide/plan-submit.js';
import type { Hold } from '#libs/auction/rules/terms.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { refused, type PlannedOpening, type Planner } from './planner.js';
import type { ShardScribe } from './shard-scribe.js';

export interface OpenPorts {
  readonly planner: Planner;
  readonly clock: Clock;
  readonly onOpened: (number: number, auctionId: string, at: Instant) => void;
}

const DURATION_MS = 86_400_000;
/** Requests in one reservation. */
const MAX_REQUESTS = 256;
const ATTEMPTS = 10;
const RETRY_MILLIS = 200;

/** Auctions that stay open, with standing quotes. Reservations come before the journal, as always. */
export class OpenAuctions {
  constructor(
    private readonly ports: OpenPorts,
    private readonly quotes: number,
  ) {}

  /** Opens those of `numbers` that belong to the shard. */
  async play(
    scribe: ShardScribe,
    desk: ReservationDesk,
    numbers: { from: number; end: number },
  ): Promise<void> {
    const batchSize = Math.max(1, Math.floor(MAX_REQUESTS / Math.max(1, this.quotes)));
    let plans: PlannedOpening[] = [];
    for (let number = numbers.from; number < numbers.end; number += 1) {
      if (this.ports.planner.shardOf(number) !== scribe.shard) continue;
      plans.push(await this.ports.planner.opening(number, this.now(scribe), DURATION_MS));
      if (plans.length < batchSize) continue;
      await this.open(scribe, desk, plans);
      plans = [];
    }
    await this.open(scribe, desk, plans);
    await scribe.flush();
  }

  private async open(
    scribe: ShardScribe,
    desk: ReservationDesk,
    plans: readonly PlannedOpening[],
  ): Promise<void> {
    await this.ports.planner.refresh();
    const holds = await this.reserved(desk, plans);
    for (const [index, { number, auctionId, command, terms }] of plans.entries()) {
      for (const body of opened(terms, holds[index] ?? [])) {
        scribe.write(auctionId, terms.opened_at, body, command);
      }
      this.ports.onOpened(number, auctionId, terms.opened_at);
    }
    await this.quote(scribe, desk, plans);
    await scribe.flush();
  }

  private async quote(
    scribe: ShardScribe,
    desk: ReservationDesk,
    plans: readonly PlannedOpening[],
  ): Promise<void> {
    const at = this.now(scribe);
    const planned = plans.map(async ({ number, auctionId }) => {
      const state = scribe.book.find(auctionId)?.head;
      if (state === undefined) throw new Error(`auction ${auctionId} has not opened`);
      const quotes = await this.ports.planner.quotes(number, state, this.quotes, true, at);
      return quotes.map((one) => ({ ...one, auctionId }));
    });
    const quotes = (await Promise.all(planned)).flat();
    const holds = await this.reserved(desk, quotes);
    for (const [index, { auctionId, quote, command }] of quotes.entries()) {
      scribe.write(auctionId, at, submitted(quote, holds[index] ?? []), command);
    }
  }

  private async reserved(
    desk: ReservationDesk,
    plans: readonly Pick<ReserveRequest, 'account' | 'need'>[],
  ): Promise<(readonly Hold[])[]> {
    const requests = plans.map(({ account, need }) => ({ account, need, current: [] }));
    for (let attempt = 1; ; attempt += 1) {
      try {
        const outcomes = await desk.reserve(requests);
        return outcomes.map((outcome) => {
          if (!outcome.ok) throw refused(outcome);
          return outcome.hold;
        });
      } catch (error) {
        const again = error instanceof ReservationFault && error.kind !== 'FENCED' && attempt < ATTEMPTS;
        if (!again) throw error;
        await pause(this.ports.clock, RETRY_MILLIS);
      }
    }
  }

  /** Never earlier than the last event of the journal. */
  private now({ latest }: ShardScribe): Instant {
    const now = instantFromNanos(this.ports.clock.epochNanos());
    return now > latest ? now : latest;
  }
}
