import { holdsOf } from '../../rules/holds-of.js';
import type { Instant } from '#libs/base/instant.js';
import type { Hold } from '../../rules/terms.js';
import { decodeEvent } from '../../rules/event-versions.js';
import { type RecoveredExtent, recoverMemory, type RecoveryPorts } from '#libs/shard/recovery.js';
import type { AuctionBook } from '../memory/auction-book.js';
import type { NotedConnections } from '../connections/connection-book.js';
import { readMoment, SNAPSHOT_FORMAT } from './shard-snapshot.js';
import type { StoredAnswers } from '../memory/stored-answers.js';

export interface Recovered extends RecoveredExtent {
  readonly lastEventAt: Instant | undefined;
}

export interface ShardRecoveryPorts extends Omit<RecoveryPorts, 'family' | 'format' | 'restore' | 'replay'> {
  readonly book: AuctionBook;
  readonly stored: StoredAnswers;
  readonly noted: NotedConnections;
}

export async function recover(ports: ShardRecoveryPorts): Promise<Recovered> {
  const { book, stored, noted } = ports;
  let lastEventAt: Instant | undefined;
  const extent = await recoverMemory({
    ...ports,
    family: 'auction',
    format: SNAPSHOT_FORMAT,
    restore: (content) => {
      lastEventAt = restore(ports, content);
    },
    replay: (position, payload) => {
      const event = decodeEvent(payload);
      if ('auction_id' in event) book.apply({ position, event });
      stored.note(position, event);
      noted.note(event);
      if (lastEventAt === undefined || event.at > lastEventAt) lastEventAt = event.at;
    },
  });
  for (const entry of book.all()) entry.durable = entry.head;
  return { ...extent, lastEventAt };
}

function restore({ book, stored, noted }: ShardRecoveryPorts, content: Buffer): Instant {
  const { entries, answers, connections, lastEventAt } = readMoment(content);
  for (const entry of entries) book.restore(entry);
  stored.restore(answers);
  noted.restore(connections);
  return lastEventAt;
}

/** The holds of all auctions in memory, by account. The reservations must be exactly these. */
export function holdsByAccount(book: AuctionBook): Map<string, Hold[]> {
  const held = new Map<string, Hold[]>();
  for (const entry of book.all()) {
    for (const [account, holds] of holdsOf(entry.head)) {
      const sum = held.get(account);
      if (sum === undefined) held.set(account, [...holds]);
      else sum.push(...holds);
    }
  }
  return held;
}
