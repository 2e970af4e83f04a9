import type { IncomingMessage } from 'node:http';
import type { Check } from '../checks/check.js';
import type { Reply } from '../reply/reply.js';
import type { DialectRules, RateWindow } from './dialect-rules.js';
import type { Fault } from './fault.js';

export type Headers = Readonly<Record<string, string>>;

/**
 * How one service speaks HTTP: the checks and their order, how it reads requests and writes refusals. Endpoint tables and the
 * dispatcher are the same for all services; only this differs.
 */
export interface Dialect extends DialectRules {
  /** In order; the first that fails sends the reply. */
  readonly checks: readonly Check[];
  /** The header in which a caller may name its request and every reply names it; ids that do not match `pattern` are replaced. */
  readonly requestId: { readonly header: string; readonly pattern: RegExp };
  /** On every reply without its own value. */
  readonly replyHeaders: Headers;
  refuse(fault: Fault): Reply;
  /** On every reply to a call that was counted. */
  rateLimitHeaders(window: RateWindow): Headers;
  /** The error code of a refusal, for traces. */
  codeOf(reply: Pick<Reply, 'status' | 'body'>): string | undefined;
  /** What a handler threw as its reply; undefined for a failure. */
  thrownReply?(error: unknown): Reply | undefined;
  /** Sees every reply to a request last, refusals included. */
  complete?(reply: Reply, request: IncomingMessage): Reply;
}
