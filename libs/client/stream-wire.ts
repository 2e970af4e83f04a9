/** The frames of a stream, written from the contract and independent of the service's code. */
import type { AuctionJson, TimelineEntryJson } from './wire.js';

export interface SubscriptionRow {
  readonly subscription_id: string;
  readonly channel: 'auctions' | 'auction';
  readonly auction_id?: string;
}

export interface Welcome {
  readonly type: 'welcome';
  readonly cmd_id: string;
  readonly connection_id: string;
  readonly server_time: string;
  readonly session_expires_at: string;
  readonly heartbeat_ms: number;
  readonly resumed: boolean;
  readonly subscriptions: readonly SubscriptionRow[];
  readonly resume_error?: string;
}

export interface SnapshotFrame {
  readonly type: 'snapshot';
  readonly subscription_id: string;
  readonly auctions: readonly AuctionJson[];
  readonly more: boolean;
  readonly resume_token: string;
}

export interface StreamEvent extends Omit<TimelineEntryJson, 'seq' | 'actor'> {
  readonly type: 'event';
  readonly subscription_id: string;
  readonly seq: number;
  readonly auction_id: string;
  readonly timeline_seq: number;
  readonly resume_token?: string;
}

export interface Ack<Result = Record<string, unknown>> {
  readonly type: 'ack';
  readonly cmd_id: string;
  readonly status: number;
  readonly result: Result;
}

export interface Reject {
  readonly type: 'reject';
  readonly cmd_id: string;
  readonly status: number;
  readonly error: string;
  readonly message?: string;
}

export interface Resync {
  readonly type: 'resync';
  readonly subscription_id: string;
  readonly reason: string;
}

export interface Heartbeat {
  readonly type: 'heartbeat';
  readonly server_time: string;
  readonly resume_token: string;
}

interface Reply<Type extends string> {
  readonly type: Type;
  readonly cmd_id: string;
}

export type ServerFrame =
  | Welcome
  | (Reply<'subscribed'> & { readonly subscription_id: string })
  | (Reply<'unsubscribed'> & { readonly subscription_id: string })
  | Reply<'pong'>
  | SnapshotFrame
  | StreamEvent
  | Ack
  | Reject
  | Resync
  | Heartbeat
  | { readonly type: 'session_expiring' }
  | { readonly type: 'goaway'; readonly reason: string };

export type FrameOf<Type extends ServerFrame['type']> = Extract<ServerFrame, { readonly type: Type }>;
