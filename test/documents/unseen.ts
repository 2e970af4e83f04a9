import { fakedTime } from '../faults/machine.js';

export interface Unseen {
  /** A part of a document as the check names it; a star matches anything. */
  readonly what: string;
  readonly why: string;
  /** Depends on timing, so a test may see it after all. */
  readonly byChance?: true;
}

/** Only a wrong clock causes it, and test/e2e/full/conditions.full.spec.ts cannot set one everywhere. */
const WITHOUT_FAKED_TIME: Unseen = {
  what: '* 503 clock_unhealthy',
  why: 'libfaketime is not installed here; libs/auction/shard/shard-time.db.spec.ts has a clock of its own.',
};

/** What the documents describe and no test can cause from outside. A part that is seen after all must be removed here. */
export const UNSEEN: readonly Unseen[] = [
  {
    what: '* 503 owner_response_invalid',
    why: 'An owner would have to answer with garbage; libs/link/link.spec.ts has one that does.',
  },
  {
    what: '* 409 idempotency_key_in_progress',
    why: 'An owner whose journal stalls for so long stops; libs/auction/shard/idempotency.db.spec.ts delays a single call.',
    byChance: true,
  },
  {
    what: 'listAuctions 503 auction_list_projection_invalid',
    why: 'The database would have to sort wrongly.',
  },
  {
    what: 'listAuctions 503 auction_list_item_exceeds_response_limit',
    why: 'The bounds of a create keep every view far below 2 MiB.',
  },
  {
    what: 'AuctionStatus=CLOSED',
    why: 'The close and its decision are one write: only a recovery between the two could show it.',
    byChance: true,
  },
  {
    what: 'NotReady.status=draining',
    why: 'A gateway that is stopping takes no new connections, and old ones have only moments left.',
    byChance: true,
  },
  {
    what: 'Quote.withdrawn_by=OPERATOR',
    why: 'The contract has it; no operator command withdraws a single quote in this version.',
  },
  {
    what: 'QuoteWithdrawnEntry.actor=OPERATOR',
    why: 'As above.',
  },
  {
    what: '*Event.resume_token',
    why: 'It comes with one event in a hundred or a second, of whatever kind that is.',
    byChance: true,
  },
  {
    what: 'WelcomeMessage.resume_error=EXPIRED',
    why: 'A token would have to be older than 24 hours; libs/socket/resume-token.spec.ts simulates them.',
  },
  {
    what: 'GoawayMessage.reason=SHARD_STOPPED',
    why: 'A record of a journal would have to be damaged; libs/auction/stream/stream-hub.spec.ts has an unreadable one.',
  },
  {
    what: 'openStream 503',
    why: 'A gateway that is stopping takes no new connections: a handshake would have to be in progress at that moment.',
    byChance: true,
  },
  {
    what: 'openStream 503 draining',
    why: 'As above.',
    byChance: true,
  },
  {
    what: 'ResyncMessage.reason=SNAPSHOT_INCOMPLETE',
    why: 'The connection would have to end within a snapshot; libs/auction/stream/resume.property.spec.ts ends it everywhere.',
    byChance: true,
  },
  ...(fakedTime() === undefined ? [WITHOUT_FAKED_TIME] : []),
];
