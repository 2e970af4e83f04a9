import type { IncomingMessage } from 'node:http';
import type { DialectRules } from '../dialect/dialect-rules.js';
import type { EndpointSpec } from '../endpoint.js';
import { announcedBytes, announcesBody, type BodyOutcome, readBody } from '../exchange/request-body.js';
import { awaitsContinue, carriesHeader, isEncoded, isJsonContent } from '../exchange/request-headers.js';
import { type Check, type CheckOutcome, GONE } from './check.js';

/** Accepts JSON without an encoding. The content type is ignored if there is no body. */
export const contentType: Check = {
  name: 'content type',
  after: ['method'],
  readsBody: true,
  run: ({ request, found: { spec } }) =>
    isReadable(request, spec) ? undefined : { kind: 'unsupported-media-type', spec },
};

/** Reads the body up to its limit. Trailers arrive with its end, and are checked like headers. */
export const size: Check = {
  name: 'size',
  after: ['method'],
  readsBody: true,
  async run(inspection, { dialect, connections }) {
    const { request, response, found } = inspection;
    const { spec } = found;
    const maxBytes = maxBytesOf(spec, dialect);
    if (announcedBytes(request) > maxBytes) return { kind: 'payload-too-large', spec };
    if (awaitsContinue(request) && announcesBody(request)) response?.writeContinue();
    const outcome = await readBody(request, maxBytes, connections);
    if (!Buffer.isBuffer(outcome)) return faultOf(outcome, spec);
    if (carriesHeader(request.trailers, dialect.internalHeaders)) return { kind: 'internal-header', spec };
    inspection.bytes = outcome;
    return undefined;
  },
};

function maxBytesOf({ maxBodyBytes }: EndpointSpec, { body }: DialectRules): number {
  return maxBodyBytes ?? body.maxBytes;
}

function isReadable(request: IncomingMessage, spec: EndpointSpec): boolean {
  if (isEncoded(request)) return false;
  return (spec.body === undefined && !announcesBody(request)) || isJsonContent(request);
}

function faultOf(outcome: Exclude<BodyOutcome, Buffer>, spec: EndpointSpec): CheckOutcome {
  switch (outcome) {
    case 'too-large':
      return { kind: 'payload-too-large', spec };
    case 'timeout':
      return { kind: 'request-timeout', spec };
    case 'malformed':
      return { kind: 'malformed-request', spec };
    case 'gone':
      return GONE;
  }
}
