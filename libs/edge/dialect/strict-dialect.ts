import { body, ids, idempotencyKey, query } from '../checks/parts.js';
import { contentType, size } from '../checks/content.js';
import { credentials } from '../checks/caller.js';
import { framing, headerCount, internalHeaders } from '../checks/head.js';
import { method, path, permission, route, visibility } from '../checks/route.js';
import { STRICT_JSON } from '../decoding/strict-json.js';
import { flatCodeOf, flatRefusals, type FlatCodes } from '../reply/flat-errors.js';
import type { Dialect } from './dialect.js';

export interface StrictDialectParts {
  readonly internalHeaders: readonly string[];
  /** Which paths require a token, existing or not. */
  readonly isGuarded: (path: string) => boolean;
  readonly codes?: Partial<FlatCodes>;
}

/** Checks the token before the path, refuses unknown and null fields, uses the flat envelope, and sends no rate limits. */
export function strictDialect({
  internalHeaders: headerNames,
  isGuarded,
  codes,
}: StrictDialectParts): Dialect {
  const caller = [credentials(isGuarded), path, method, visibility, permission];
  return {
    checks: [
      ...[internalHeaders, headerCount, framing, route, ...caller],
      ...[contentType, size, ids, query, body, idempotencyKey],
    ],
    internalHeaders: headerNames,
    body: { ...STRICT_JSON, maxBytes: 1_048_576, unknownFields: 'refused', absent: 'refused' },
    unknownParameters: 'refused',
    requestId: { header: 'x-request-id', pattern: /^[A-Za-z0-9._:-]{1,128}$/ },
    replyHeaders: { 'cache-control': 'no-store' },
    refuse: flatRefusals(codes),
    rateLimitHeaders: () => ({}),
    codeOf: flatCodeOf,
  };
}
