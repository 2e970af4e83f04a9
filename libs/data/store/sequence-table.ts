import type { ClientBase } from 'pg';
import { numbersOf } from './instruments.js';
import type { Provider } from '../rules/providers.js';
import { LIVE, type SchemaOf } from '#libs/projecting/projection.js';

type Client = Pick<ClientBase, 'query'>;

/** A trade whose venue numbers trades, without gaps in each market. */
export interface NumberedTrade {
  readonly marketNo: number;
  readonly seq: bigint;
  readonly ts: number;
}

/** A span of consecutive numbers. Between two spans of a market is a gap. */
export interface SequenceSpan {
  readonly marketNo: number;
  readonly first: bigint;
  readonly last: bigint;
  readonly firstTs: number;
  readonly lastTs: number;
}

interface SpanRow {
  readonly market_no: number;
  readonly first_seq: string;
  readonly last_seq: string;
  readonly first_ts: number;
  readonly last_ts: number;
}

/** The number of gaps. */
export async function gapsOfProvider(client: Client, provider: Provider): Promise<number> {
  const { rows } = await client.query<{ gaps: number }>(
    `select count(*) - count(distinct market_no) as gaps from data.sequences where market_no > $1 and market_no < $2`,
    [...numbersOf(provider)],
  );
  return rows[0]?.gaps ?? 0;
}

export class SequenceTable {
  private readonly schema: string;

  constructor(schemaOf: SchemaOf = LIVE) {
    this.schema = schemaOf('data');
  }

  async add(client: Client, trades: readonly NumberedTrade[]): Promise<void> {
    if (trades.length === 0) return;
    const added = joinedSpans(
      trades.map(({ marketNo, seq, ts }) => ({ marketNo, first: seq, last: seq, firstTs: ts, lastTs: ts })),
    );
    const { rows } = await client.query<SpanRow>(
      `delete from ${this.schema}.sequences known
       using unnest($1::bigint[], $2::numeric[], $3::numeric[]) as given (market_no, first_seq, last_seq)
       where known.market_no = given.market_no and known.last_seq >= given.first_seq - 1 and known.first_seq <= given.last_seq + 1
       returning known.market_no, known.first_seq::text, known.last_seq::text, known.first_ts, known.last_ts`,
      [
        added.map(({ marketNo }) => marketNo),
        ...[added.map(({ first }) => first), added.map(({ last }) => last)],
      ],
    );
    const spans = joinedSpans([...rows.map(spanOf), ...added]);
    await client.query(
      `insert into ${this.schema}.sequences (market_no, first_seq, last_seq, first_ts, last_ts)
       select * from unnest($1::bigint[], $2::numeric[], $3::numeric[], $4::bigint[], $5::bigint[])`,
      [
        ...[
          spans.map(({ marketNo }) => marketNo),
          spans.map(({ first }) => first),
          spans.map(({ last }) => last),
        ],
        ...[spans.map(({ firstTs }) => firstTs), spans.map(({ lastTs }) => lastTs)],
      ],
    );
  }
}

function spanOf({ market_no, first_seq, last_seq, first_ts, last_ts }: SpanRow): SequenceSpan {
  return {
    ...{ marketNo: market_no, first: BigInt(first_seq), last: BigInt(last_seq) },
    ...{ firstTs: first_ts, lastTs: last_ts },
  };
}

/** Joins spans that touch or overlap. */
export function joinedSpans(spans: readonly SequenceSpan[]): SequenceSpan[] {
  const joined: SequenceSpan[] = [];
  for (const span of [...spans].sort(inOrder)) {
    const before = joined.at(-1);
    if (before?.marketNo !== span.marketNo || span.first > before.last + 1n) joined.push(span);
    else if (span.last > before.last)
      joined[joined.length - 1] = { ...before, last: span.last, lastTs: span.lastTs };
  }
  return joined;
}

function inOrder(left: SequenceSpan, right: SequenceSpan): number {
  if (left.marketNo !== right.marketNo) return left.marketNo - right.marketNo;
  return left.first < right.first ? -1 : Number(left.first > right.first);
}
