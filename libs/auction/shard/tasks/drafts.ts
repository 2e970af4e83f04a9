import type { Decided } from '../../rules/decided.js';
import type {
  AuctionEvent,
  AuctionEventBody,
  CommandMark,
  DomainEvent,
  ShardEvent,
  ShardEventBody,
} from '../../rules/events.js';
import { versionOf } from '../../rules/event-versions.js';
import type { AuctionState } from '../../rules/state.js';
import type { Instant } from '#libs/base/instant.js';

/** An event as a task decides it, before its version is added. */
export type Draft = {
  readonly at: Instant;
  readonly command?: CommandMark;
  readonly requestId?: string;
} & ({ readonly auctionId: string; readonly body: AuctionEventBody } | { readonly body: ShardEventBody });

export function draftsOf(state: AuctionState, decided: readonly Decided[]): Draft[] {
  return decided.map(({ at, body }) => ({ at, body, auctionId: state.terms.auction_id }));
}

export function eventsOf(drafts: readonly Draft[]): DomainEvent[] {
  return drafts.map(eventOf);
}

function eventOf(draft: Draft): DomainEvent {
  const recorded = {
    ...draft.body,
    version: versionOf(draft.body.type),
    at: draft.at,
    ...(draft.requestId === undefined ? {} : { request_id: draft.requestId }),
    ...(draft.command === undefined ? {} : { command: draft.command }),
  };
  return 'auctionId' in draft
    ? ({ ...recorded, auction_id: draft.auctionId } as AuctionEvent)
    : (recorded as ShardEvent);
}
