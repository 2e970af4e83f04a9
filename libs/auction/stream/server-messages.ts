import type { Channel } from './resume-point.js';

/** All messages to clients, by `type`. The interface document describes each of them. */
export const SERVER_MESSAGES = [
  'welcome',
  'subscribed',
  'unsubscribed',
  'snapshot',
  'event',
  'ack',
  'reject',
  'heartbeat',
  'pong',
  'resync',
  'session_expiring',
  'goaway',
] as const;
export type ServerMessage = (typeof SERVER_MESSAGES)[number];

export type ResyncReason = 'SLOW_READER' | 'HISTORY_GONE' | 'SNAPSHOT_INCOMPLETE';
export type ResumeError = 'INVALID' | 'EXPIRED';

export interface SubscriptionName {
  readonly subscription_id: string;
  readonly channel: Channel;
  readonly auction_id?: string;
}

export function message(type: ServerMessage, members: object): string {
  return JSON.stringify({ type, ...members });
}

/** `result` is JSON text already. */
export function ack(cmdId: string, status: number, result: string): string {
  return `{"type":"ack","cmd_id":${JSON.stringify(cmdId)},"status":${status},"result":${result}}`;
}

export interface StreamRefusal {
  readonly status: number;
  readonly error: string;
  readonly message?: string;
}

export function reject(cmdId: string, refusal: StreamRefusal): string {
  return message('reject', { cmd_id: cmdId, ...refusal });
}

/** `members` is JSON text that all subscriptions share. */
export function eventMessage(subscriptionId: string, seq: number, members: string, token?: string): string {
  const end = token === undefined ? '}' : `,"resume_token":"${token}"}`;
  return `{"type":"event","subscription_id":"${subscriptionId}","seq":${seq},${members}${end}`;
}

/** `auctions` are views as JSON text. */
export function snapshotMessage(
  subscriptionId: string,
  auctions: readonly string[],
  more: boolean,
  token: string,
): string {
  return `{"type":"snapshot","subscription_id":"${subscriptionId}","auctions":[${auctions.join(',')}],"more":${more},"resume_token":"${token}"}`;
}

export const INVALID = fault(400, 'invalid_json');
export const OUT_OF_RANGE = fault(400, 'invalid_request');
export const UNAUTHORIZED = fault(401, 'unauthorized');
export const FORBIDDEN = fault(403, 'forbidden');
export const NO_SUBSCRIPTION = fault(404, 'not_found');
export const TOO_MANY_SUBSCRIPTIONS = fault(429, 'stream_subscription_limit');
export const FAILED = fault(500, 'internal_error');
export const SESSION_UNKNOWN = fault(503, 'owner_routing_unavailable');
export const NOT_HERE_YET = fault(503, 'auction_owner_unavailable');

function fault(status: number, error: string): StreamRefusal {
  return { status, error };
}
