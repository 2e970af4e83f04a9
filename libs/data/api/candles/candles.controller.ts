import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { coverageText } from '../../rules/coverage.js';
import { isoTime } from '../../rules/times.js';
import { microsNow } from '../moments.js';
import { refuse } from '../refusals.js';
import { dataReply, streamedReply } from '../replies.js';
import { readItem } from './asked-items.js';
import { type AskedCandles, BACKWARDS, planOf, type PlannedCandles } from './candle-ask.js';
import { CandleBatch, type CandleBatchPorts } from './candle-batch.js';
import { getCandleBatch, getCandles, getCompanionCandles } from './candle-endpoints.js';

export interface CandlesPorts extends CandleBatchPorts {
  readonly clock: Pick<Clock, 'epochNanos'>;
}

const CLOSED = 'private, max-age=60';
const FORMING = 'no-cache';

/** Candles of the data listener. */
@Injectable()
export class CandlesController {
  private readonly batch: CandleBatch;

  constructor(private readonly ports: CandlesPorts) {
    this.batch = new CandleBatch(ports);
  }

  @Endpoint(getCandles)
  get({ query }: CallOf<typeof getCandles>): Promise<Reply> {
    return candlesReply(this.ports, query);
  }

  @Endpoint(getCandleBatch)
  async getBatch({ body }: CallOf<typeof getCandleBatch>): Promise<Reply> {
    const { chunks, providers } = await this.batch.answer(
      body.items.map(readItem),
      microsNow(this.ports.clock),
    );
    return streamedReply(chunks, { providers });
  }
}

/** Candles of the companion listener. */
@Injectable()
export class CompanionCandlesController {
  constructor(private readonly ports: CandlesPorts) {}

  @Endpoint(getCompanionCandles)
  get({ query }: CallOf<typeof getCompanionCandles>): Promise<Reply> {
    return candlesReply(this.ports, query);
  }
}

async function candlesReply({ markets, desk, clock }: CandlesPorts, asked: AskedCandles): Promise<Reply> {
  const { provider, contract_id, start, end } = asked;
  if (end <= start) throw refuse(400, BACKWARDS);
  const now = microsNow(clock);
  const market = (await markets.find(provider, [contract_id])).get(contract_id);
  const plan = planOf(asked, market, now);
  if ('refused' in plan) throw refuse(400, plan.refused);
  const coverage = await desk.coverage(plan);
  const texts: string[] = [];
  for await (const text of desk.texts(plan)) texts.push(text);
  const { history_from } = coverage;
  const from = history_from === null ? 'null' : `"${isoTime(history_from)}"`;
  return dataReply(`{"candles":[${texts.join(',')}],"history_from":${from}}`, {
    cache: hasForming(plan) ? FORMING : CLOSED,
    providers: [provider],
    headers: { 'x-data-coverage': coverageText(coverage) },
  });
}

/** Its last bucket may still change without anything being late. */
function hasForming({ window, now }: PlannedCandles): boolean {
  return window.end > now;
}
