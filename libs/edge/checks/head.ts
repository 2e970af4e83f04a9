import type { IncomingMessage } from 'node:http';
import type { FaultKind } from '../dialect/fault.js';
import { carriesHeader, valuesOf } from '../exchange/request-headers.js';
import type { Check } from './check.js';

/** `uri-host [":" port]` of RFC 9110; it may be empty. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[\w\-.~!$&'()*+;=%]*)(?::\d{0,5})?$/i;

export const internalHeaders: Check = {
  name: 'internal headers',
  after: [],
  run: ({ request }, { dialect }) =>
    carriesHeader(request.headers, dialect.internalHeaders) ? { kind: 'internal-header' } : undefined,
};

export const headerCount: Check = {
  name: 'header count',
  after: [],
  run: ({ request }, { limits }) =>
    request.rawHeaders.length > 2 * limits.headerCount ? { kind: 'headers-too-large' } : undefined,
};

/**
 * What the parser accepts and RFC 9112 does not. A proxy in front of us may have parsed such a request differently, so nothing
 * after it on its connection can be trusted.
 */
export const framing: Check = {
  name: 'framing',
  after: [],
  run({ request }) {
    const kind = isHostSound(request) ? transferFault(request) : 'malformed-request';
    return kind === undefined ? undefined : { kind };
  },
};

/** Exactly one valid Host on every request (3.2); version 1.0 may omit it. */
function isHostSound(request: IncomingMessage): boolean {
  const { host } = request.headers;
  if (host === undefined) return request.httpVersion !== '1.1';
  return HOST.test(host) && valuesOf(request, 'host').length === 1;
}

/** Chunked must be last or the end is unknown (6.3); it is all we decode (6.1); version 1.0 has none. */
function transferFault(request: IncomingMessage): FaultKind | undefined {
  const given = request.headers['transfer-encoding'];
  if (given === undefined) return undefined;
  const codings = given.split(',').map((coding) => coding.trim().toLowerCase());
  if (request.httpVersion !== '1.1' || codings.at(-1) !== 'chunked') return 'malformed-request';
  return codings.length === 1 ? undefined : 'unsupported-transfer-coding';
}
