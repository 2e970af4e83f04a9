import type { Check } from '../checks/check.js';
import type { Reply } from '../reply/reply.js';
import type { DialectRules, RateWindow } from './dialect-rules.js';
import type { Fault } from './fault.js';

export type Headers = Readonly<Record<string, string>>;

/**
 * How one service speaks HTTP: which checks it makes in which order, how it reads requests and how it writes refusals. Endpoint
 * tables and the dispatcher are the same for all services; only what stands here differs.
 */
export interface Dialect extends DialectRules {
  /** In the order in which they are made; the first that fails answers. */
  readonly checks: readonly Check[];
  /** The header in which a caller may name its request and every reply names it; other ids than `pattern` are replaced. */
  readonly requestId: { readonly header: string; readonly pattern: RegExp };
  /** On every reply that does not say otherwise. */
  readonly replyHeaders: Headers;
  refuse(fault: Fault): Reply;
  /** On every reply to a call that was counted. */
  rateLimitHeaders(window: RateWindow): Headers;
  /** The error code of a refusal, for traces. */
  codeOf(reply: Pick<Reply, 'status' | 'body'>): string | undefined;
}
