import type { NumberedEntry } from '../rules/told/timeline-entry.js';
import type { JsonObject } from '#libs/edge/decoding/strict-json.js';
import type { Caller } from '#libs/edge/endpoint.js';
import type { ConnectionMeter } from '#libs/socket/connection-metrics.js';
import type { StreamCommandName } from './client-messages.js';
import type { ResyncReason } from './server-messages.js';

export interface CommandCall {
  readonly name: StreamCommandName;
  readonly fields: JsonObject;
  readonly principal: Caller;
  readonly connectionId: string;
}

/** The same answer as over HTTP. */
export interface CommandAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

/** Runs commands like the endpoints of the same names, with the same token buckets and stored replies. */
export interface Commands {
  run(call: CommandCall): Promise<CommandAnswer>;
}

export interface Refused {
  readonly status: number;
  readonly error: string;
}

/** The answer may lag: an auction that is over may still look open. */
export interface TimelinePart {
  readonly entries: readonly NumberedEntry[];
  /** Whether the auction is over for the account in this answer. */
  readonly isOver: boolean;
}

/** Reads of auctions that are not in the feed's memory, or not yet. */
export interface Archive {
  /** The account's view as JSON text, and whether the auction is over for it. */
  view(
    account: string,
    auctionId: string,
  ): Promise<{ readonly text: string; readonly isOver: boolean } | Refused>;
  /** The next entries of the account's timeline after `afterSeq`: as many as asked for, or all that exist. */
  events(
    account: string,
    auctionId: string,
    afterSeq: number,
    limit: number,
  ): Promise<TimelinePart | Refused>;
}

/** A connection whose quotes may be withdrawn when it ends. */
export interface WatchedConnection {
  readonly connectionId: string;
  readonly account: string;
  readonly attachment: number;
  readonly graceMillis: number | undefined;
}

/** Reports the connections of this gateway to the owners, so that they know whose quotes to withdraw. */
export interface Presence {
  here(connection: WatchedConnection): void;
  gone(connection: WatchedConnection, how: 'BYE' | 'LOST'): void;
}

export type StreamMeter = ConnectionMeter<ResyncReason>;
