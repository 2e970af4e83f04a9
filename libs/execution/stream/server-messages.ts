import type { SocketAnswer } from './ports.js';
import type { VenueId } from '../rules/venues.js';

/** All messages to clients, by their `type`. The interface document describes each. */
export const SERVER_MESSAGES = [
  'welcome',
  'subscribed',
  'unsubscribed',
  'snapshot',
  'order_update',
  'fill',
  'settlement',
  'fill_reversal',
  'external',
  'ack',
  'error',
  'heartbeat',
  'pong',
  'provider_access',
  'resync',
  'session_expiring',
  'goaway',
] as const;
export type SocketMessage = (typeof SERVER_MESSAGES)[number];

export const RESYNC_REASONS = [
  'SLOW_READER',
  'HISTORY_GONE',
  'SNAPSHOT_INCOMPLETE',
  'PROVIDER_ACCESS',
] as const;
export type SocketResyncReason = (typeof RESYNC_REASONS)[number];
export type SocketResumeError = 'INVALID' | 'EXPIRED';

export interface OrderSubscriptionName {
  readonly subscription_id: string;
  readonly channel: 'orders';
  readonly exchange_ids?: readonly VenueId[];
}

export function message(type: SocketMessage, members: object): string {
  return JSON.stringify({ type, ...members });
}

/** A message of the channel. `members` is JSON text that all subscriptions share. */
export function channelMessage(
  type: SocketMessage,
  subscriptionId: string,
  seq: number,
  members: string,
  token: string | undefined,
): string {
  const end = token === undefined ? '}' : `,"resume_token":"${token}"}`;
  return `{"type":"${type}","subscription_id":"${subscriptionId}","seq":${seq},${members}${end}`;
}

/** The answer that the HTTP call would get. */
export function answerMessage(reqId: string, answer: SocketAnswer): string {
  const { status, body, isReplay, isMismatch } = answer;
  const id = JSON.stringify(reqId);
  if (status >= 400) return errorMessage(reqId, status, body);
  const replay = isReplay === true ? ',"idempotent_replay":true' : '';
  const mismatch = isMismatch === true ? ',"idempotent_mismatch":true' : '';
  return `{"type":"ack","req_id":${id},"result":${body === '' ? '{}' : body}${replay}${mismatch}}`;
}

/** `body` is that of the HTTP refusal. A body that is not a JSON object becomes the field `error`. */
export function errorMessage(reqId: string, status: number, body: string): string {
  const head = `{"type":"error","req_id":${JSON.stringify(reqId)},"status":${status}`;
  if (body === '' || body === '{}') return `${head}}`;
  return body.startsWith('{') ? `${head},${body.slice(1)}` : `${head},"error":${JSON.stringify(body)}}`;
}

export interface FrameRefusal {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

type Classification = 'expected_user_rejection' | 'retryable' | 'non_retryable';

export const INVALID_SCOPE = refusal(
  403,
  'AUTH_INSUFFICIENT_SCOPE',
  'This needs the scope trade:read.',
  'non_retryable',
);
export const UNKNOWN_OP = invalid('op', 'There is no such op.');
export const TWICE = refusal(
  400,
  'VALIDATION_UNKNOWN_FIELD',
  'A name comes twice.',
  'expected_user_rejection',
);
export const CELL_AWAY = refusal(
  503,
  'CELL_UNAVAILABLE',
  'Your orders cannot be read at present.',
  'retryable',
);
export const FAILED = refusal(500, 'INTERNAL_ERROR', 'Something went wrong here.', 'retryable');
export const TOO_MANY = refusal(429, 'RATE_LIMITED_CALLS', 'There are too many subscriptions.', 'retryable');
export const TOO_MANY_SOCKETS = refusal(
  429,
  'RATE_LIMITED_CALLS',
  'There are too many sockets.',
  'retryable',
);
export const UNAUTHORIZED: FrameRefusal = { status: 401, body: '{"error":"the session token is not valid"}' };
export const FOREIGN: FrameRefusal = {
  status: 403,
  body: '{"error":"the token is not for this connection"}',
};
export const SESSION_UNKNOWN: FrameRefusal = {
  status: 503,
  body: '{"error":"the session cannot be verified at present"}',
};

export function invalid(field: string, text: string): FrameRefusal {
  const code = 'VALIDATION_INVALID_PARAMETER';
  return refusal(400, code, text, 'expected_user_rejection', { field });
}

export function unknownField(field: string): FrameRefusal {
  const code = 'VALIDATION_UNKNOWN_FIELD';
  return refusal(400, code, `There is no field ${field}.`, 'expected_user_rejection', { field });
}

function refusal(
  status: number,
  code: string,
  error: string,
  classification: Classification,
  details?: object,
): FrameRefusal {
  const error_details = { code, ...(details === undefined ? {} : { details }), metadata: { classification } };
  return { status, body: JSON.stringify({ error, code: legacyOf(code), error_details }) };
}

function legacyOf(code: string): string {
  const words = code.replace(/^(VALIDATION|AUTH|EXCHANGE)_/, '').split('_');
  return words.map((word) => word.charAt(0) + word.slice(1).toLowerCase()).join('');
}
