import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import { object } from '#libs/edge/decoding/decode.js';
import { integer, text } from '#libs/edge/decoding/decode-scalars.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { coverageText } from '../../rules/coverage.js';
import type { EventPlace } from '../../rules/order.js';
import type { Provider } from '../../rules/providers.js';
import { isoTime, unixSeconds } from '../../rules/times.js';
import { type DataCaller, dataCallerOf } from '../callers.js';
import type { CursorFilters, SealedCursors } from '../cursors.js';
import { microsNow } from '../moments.js';
import { dataReply } from '../replies.js';
import { shownTrade } from './shown-trade.js';
import type { AskedTrades, TradeDesk, TradeMetricsRead } from './trade-desk.js';
import { getTradeHistory, getTradeMetrics } from './trade-endpoints.js';

export interface TradesPorts {
  readonly desk: TradeDesk;
  readonly cursors: SealedCursors;
  readonly access: { check(caller: DataCaller | undefined, provider: Provider): Promise<void> };
  readonly clock: Pick<Clock, 'epochNanos'>;
}

/** The position of the last trade of a page. */
const positionShape = object({
  required: { ts: integer(Number.MIN_SAFE_INTEGER), seq: text({ pattern: /^-?\d{1,19}$/ }), id: text() },
});

/** Routes for trades from the store. */
@Injectable()
export class TradesController {
  constructor(private readonly ports: TradesPorts) {}

  @Endpoint(getTradeHistory)
  async history({ query, principal }: CallOf<typeof getTradeHistory>): Promise<Reply> {
    const { desk: service, cursors, access, clock } = this.ports;
    const from = this.positionIn(query, query.cursor);
    await access.check(dataCallerOf(principal), query.provider);
    const read = await service.page(query, { limit: query.limit, place: from }, microsNow(clock));
    const { market, trades, hasMore, oldest, metrics } = read;
    const last = hasMore ? trades.at(-1) : undefined;
    const next_cursor =
      last === undefined ? null : cursors.seal(getTradeHistory.path, filtersOf(query), positionOf(last));
    const body = {
      trades: market === undefined ? [] : trades.map((trade) => shownTrade(market, trade)),
      ...{ count: trades.length, has_more: hasMore, next_cursor },
      oldest_available_ts: oldest === undefined ? null : unixSeconds(oldest),
      ...{ history_from: fromOf(read), metrics },
    };
    return covered(query.provider, read, body);
  }

  @Endpoint(getTradeMetrics)
  async metrics({ query, principal }: CallOf<typeof getTradeMetrics>): Promise<Reply> {
    const { desk: service, access, clock } = this.ports;
    await access.check(dataCallerOf(principal), query.provider);
    const read = await service.metrics(query, microsNow(clock));
    return covered(query.provider, read, { ...read.metrics, history_from: fromOf(read) });
  }

  private positionIn(query: AskedTrades, cursor: string | undefined): EventPlace | undefined {
    if (cursor === undefined) return undefined;
    const { ts, seq, id } = this.ports.cursors.open(
      getTradeHistory.path,
      filtersOf(query),
      cursor,
      positionShape,
    );
    return { source_ts: ts, seq: BigInt(seq), source_id: id };
  }
}

function filtersOf({ provider, contract_id, token_id, window_seconds, before }: AskedTrades): CursorFilters {
  return { provider, contract_id, token_id, window_seconds, before };
}

function positionOf({ source_ts, seq, source_id }: EventPlace): object {
  return { ts: source_ts, seq: seq.toString(), id: source_id };
}

function fromOf({ coverage: { history_from } }: TradeMetricsRead): string | null {
  return history_from === null ? null : isoTime(history_from);
}

function covered(provider: Provider, { coverage }: TradeMetricsRead, body: object): Reply {
  return dataReply(body, { providers: [provider], headers: { 'x-data-coverage': coverageText(coverage) } });
}
