import type { Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';

/** A call of an auditor, and the reply. */
export interface AuditRead {
  readonly readerId: string;
  readonly requestId: string;
  readonly what: 'LIST' | 'AUCTION' | 'BUNDLE';
  /** Requested, or returned in a list. */
  readonly auctionIds: readonly string[];
  /** The HTTP status of the reply. */
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
  /** Only reads before this one. */
  readonly before?: number;
}

const COLUMNS = `read_id as "readId", read_at as "readAt", reader_id as "readerId", request_id as "requestId", gateway,
  what, auction_ids as "auctionIds", status`;

/** Records what each auditor read. A row is written before the reply is sent, and never changed. */
export class AuditReadLog {
  constructor(
    private readonly pool: Pool,
    private readonly gateway: string,
  ) {}

  /** Resolves when the row would survive a power loss, whatever the server's setting. */
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

/** Latest first. Only the given filters are in the statement, so that it uses the right index. */
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
