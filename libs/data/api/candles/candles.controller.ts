import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { microsNow } from '../moments.js';
import { streamedReply } from '../replies.js';
import { readItem } from './asked-items.js';
import type { CandleBatch } from './candle-batch.js';
import { getCandleBatch, getCandles, getCompanionCandles } from './candle-endpoints.js';
import type { CandleReplies } from './candle-replies.js';

export interface CandlesPorts {
  readonly clock: Pick<Clock, 'epochNanos'>;
  readonly batch: CandleBatch;
  readonly replies: CandleReplies;
}

/** Candles of the data listener. */
@Injectable()
export class CandlesController {
  constructor(private readonly ports: CandlesPorts) {}

  @Endpoint(getCandles)
  get({ query, principal }: CallOf<typeof getCandles>): Promise<Reply> {
    return this.ports.replies.of(query, microsNow(this.ports.clock), principal.account_id);
  }

  @Endpoint(getCandleBatch)
  async getBatch({ body }: CallOf<typeof getCandleBatch>): Promise<Reply> {
    const { batch, clock } = this.ports;
    const { chunks, providers } = await batch.answer(body.items.map(readItem), microsNow(clock));
    return streamedReply(chunks, { providers });
  }
}

/** Candles of the companion listener. */
@Injectable()
export class CompanionCandlesController {
  constructor(private readonly ports: Omit<CandlesPorts, 'batch'>) {}

  @Endpoint(getCompanionCandles)
  get({ query }: CallOf<typeof getCompanionCandles>): Promise<Reply> {
    return this.ports.replies.of(query, microsNow(this.ports.clock));
  }
}
