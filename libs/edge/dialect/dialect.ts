import type { IncomingMessage } from 'node:http';
import type { Check } from '../checks/check.js';
import type { Reply } from '../reply/reply.js';
import type { DialectRules, RateWindow } from './dialect-rules.js';
import type { Fault } from './fault.js';

export type Headers = Readonly<Record<string, string>>;

/**
 * A service's conventions for HTTP: its checks in order, how it reads requests, and how it writes refusals. Endpoint tables and
 * the dispatcher are the same for all services.
 */
export interface Dialect extends DialectRules {
  /** In order. The first that fails decides the reply. */
  readonly checks: readonly Check[];
  /** The header of the request id, in requests and replies. Ids of callers that do not match `pattern` are replaced. */
  readonly requestId: { readonly header: string; readonly pattern: RegExp };
  /** Set on every reply that has no value of its own. */
  readonly replyHeaders: Headers;
  refuse(fault: Fault): Reply;
  /** Set on every reply to a call that was counted. */
  rateLimitHeaders(window: RateWindow): Headers;
  /** The error code of a refusal, for traces. */
  codeOf(reply: Pick<Reply, 'status' | 'body'>): string | undefined;
  /** The reply for a refusal that a handler threw. Undefined for a failure. */
  thrownReply?(error: unknown): Reply | undefined;
  /** Completes every reply to a request, also refusals. Runs last. */
  complete?(reply: Reply, request: IncomingMessage): Reply;
}
