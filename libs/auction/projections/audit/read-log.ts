import type { Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';

/** A call of an auditor, and what it was answered with. */
export interface AuditRead {
  readonly readerId: string;
  readonly requestId: string;
  readonly what: 'LIST' | 'AUCTION' | 'BUNDLE';
  /** Asked for, or told of in a list. */
  readonly auctionIds: readonly string[];
  /** The HTTP status of the answer. */
  readonly status: number;
}

export interface RecordedRead extends AuditRead {
  readonly readId: number;
  readonly readAt: Date;
  readonly gateway: string;
}

export interface ReadFilter {
  readonly readerId?: string;
  readonly auctionId?: string;
  /** Only what was read before this one. */
  readonly before?: number;
}

const COLUMNS = `read_id as "readId", read_at as "readAt", reader_id as "readerId", request_id as "requestId", gateway,
  what, auction_ids as "auctionIds", status`;

/** Who was given what. Written before the answer is, and never changed. */
export class AuditReadLog {
  constructor(
    private readonly pool: Pool,
    private readonly gateway: string,
  ) {}

  /** Resolves when the row would survive the loss of the machine's power, whatever the server's own setting. */
  async record({ readerId, requestId, what, auctionIds, status }: AuditRead): Promise<void> {
    await withTransaction(this.pool, 'read committed', async (client) => {
      await client.query('set local synchronous_commit to on');
      await client.query(
        `insert into audit.reads (reader_id, request_id, gateway, what, auction_ids, status)
         values ($1, $2, $3, $4, $5, $6)`,
        [readerId, requestId, this.gateway, what, auctionIds, status],
      );
    });
  }
}

/** The latest first. Only what is asked for is in the statement, so that it finds its index. */
export async function auditReads(
  pool: Pool,
  limit: number,
  { readerId, auctionId, before }: ReadFilter = {},
): Promise<RecordedRead[]> {
  const values: unknown[] = [limit];
  const conditions = [
    ...(readerId === undefined ? [] : [`reader_id = $${values.push(readerId)}::uuid`]),
    ...(auctionId === undefined ? [] : [`auction_ids @> array[$${values.push(auctionId)}::uuid]`]),
    ...(before === undefined ? [] : [`read_id < $${values.push(before)}::bigint`]),
  ];
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const { rows } = await pool.query<RecordedRead>(
    `select ${COLUMNS} from audit.reads ${where} order by read_id desc limit $1`,
    values,
  );
  return rows;
}
