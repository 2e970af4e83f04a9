import type { ClientBase } from 'pg';
import type { CommandMark, ShardEvent } from '../../rules/events.js';
import { type Instant, nanosFromInstant, plusMillis } from '#libs/base/instant.js';
import type { JournaledShardEvent } from '../decoded-batch.js';
import type { SchemaOf } from '#libs/projecting/projection.js';

const KEPT_MILLIS = 30 * 24 * 60 * 60 * 1_000;

/** The shard events that contain the reply to a command. */
type AnswerEvent = Extract<ShardEvent, { type: 'CREATE_REJECTED' | 'ALL_WITHDRAWN' }>;

interface AnswerRow {
  readonly sequence: number;
  readonly event: AnswerEvent;
  readonly command: CommandMark;
}

/** First replies to commands that are in no auction's history. A key that is used again after its expiry replaces the row. */
export class AnswersTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf) {
    this.table = `${schemaOf('auction_history')}.answers`;
  }

  async put(client: ClientBase, shard: number, events: readonly JournaledShardEvent[]): Promise<void> {
    const rows = latestByKey(events);
    if (rows.length === 0) return;
    const answers = rows.map(({ event }) => answerTo(event));
    await client.query({
      name: `${this.table}-put`,
      text: `
        insert into ${this.table} (account_id, sequence, expires_at, shard, status, operation, key, content, body)
        select account_id, sequence, expires_at, $1, status, operation, key, content, body
        from unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::smallint[], $6::text[], $7::text[], $8::text[], $9::text[])
          as row (account_id, sequence, expires_at, status, operation, key, content, body)
        on conflict (account_id, operation, key, shard) do update
          set sequence = excluded.sequence, expires_at = excluded.expires_at, status = excluded.status,
            content = excluded.content, body = excluded.body`,
      values: [
        shard,
        rows.map(({ command }) => command.account_id),
        rows.map(({ sequence }) => sequence),
        rows.map(({ event }) => storedInstant(plusMillis(event.at, KEPT_MILLIS))),
        answers.map(({ status }) => status),
        rows.map(({ command }) => command.operation),
        rows.map(({ command }) => command.key),
        rows.map(({ command }) => command.content),
        answers.map(({ body }) => JSON.stringify(body)),
      ],
    });
  }
}

/** One statement can write a row only once, so the latest event of each key counts. */
function latestByKey(events: readonly JournaledShardEvent[]): AnswerRow[] {
  const rows = new Map<string, AnswerRow>();
  for (const { entry, event } of events) {
    const command = event.command;
    if (command === undefined || !isAnswer(event)) continue;
    rows.set(`${command.operation}/${command.account_id}/${command.key}`, {
      sequence: entry.sequence,
      event,
      command,
    });
  }
  return [...rows.values()];
}

function isAnswer(event: ShardEvent): event is AnswerEvent {
  return event.type === 'CREATE_REJECTED' || event.type === 'ALL_WITHDRAWN';
}

function answerTo(event: AnswerEvent): { readonly status: number; readonly body: object } {
  switch (event.type) {
    case 'CREATE_REJECTED':
      return { status: 422, body: { error: event.data.error, message: event.data.message } };
    case 'ALL_WITHDRAWN': {
      const { withdrawn, not_withdrawable } = event.data;
      return { status: 200, body: { withdrawn, not_withdrawable } };
    }
  }
}

/** The text of a bigint: nanoseconds are too many for a number. */
export type StoredInstant = string;

const LAST = 2n ** 63n - 1n;

/**
 * An instant in the form of the tables. A caller's cursor may name any year, so a value out of range becomes the nearest limit.
 */
export function storedInstant(instant: Instant): StoredInstant {
  const nanos = nanosFromInstant(instant);
  if (nanos > LAST) return String(LAST);
  return String(nanos < -LAST ? -LAST : nanos);
}

/** The default start of a list: after every instant and every id. */
export const BEFORE_ALL = { at: '9223372036854775807', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
