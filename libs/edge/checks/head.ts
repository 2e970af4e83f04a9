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
 * Refuses requests that Node's parser accepts and RFC 9112 forbids. A proxy in front of the gateway may parse them differently,
 * so nothing after them on the connection can be trusted.
 */
export const framing: Check = {
  name: 'framing',
  after: [],
  run({ request }) {
    const kind = isHostValid(request) ? transferFault(request) : 'malformed-request';
    return kind === undefined ? undefined : { kind };
  },
};

/** Every request has exactly one valid Host (3.2). HTTP/1.0 may omit it. */
function isHostValid(request: IncomingMessage): boolean {
  const { host } = request.headers;
  if (host === undefined) return request.httpVersion !== '1.1';
  return HOST.test(host) && valuesOf(request, 'host').length === 1;
}

/** `chunked` must be last, or the end is unknown (6.3). No other coding is supported (6.1), and HTTP/1.0 has none. */
function transferFault(request: IncomingMessage): FaultKind | undefined {
  const header = request.headers['transfer-encoding'];
  if (header === undefined) return undefined;
  const codings = header.split(',').map((coding) => coding.trim().toLowerCase());
  if (request.httpVersion !== '1.1' || codings.at(-1) !== 'chunked') return 'malformed-request';
  return codings.length === 1 ? undefined : 'unsupported-transfer-coding';
}
