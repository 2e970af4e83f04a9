import { openApiDocument } from '#libs/edge/documents/openapi.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { AUCTION_DIALECT } from '../dialect.js';
import { CODE_MEANINGS } from './code-meanings.js';
import { FIELD_MEANINGS } from './field-meanings.js';
import { INTRODUCTION, TAGS, tagOfPath } from './http-text.js';
import { recordedAnswers } from './recorded-examples.js';

export const INTERFACE_VERSION = '1.0.0-pilot';
/** Engine refusals explain themselves. */
const EXPLAINED = new Set([409, 422]);

export function httpDocument(specs: readonly EndpointSpec[]): OpenApi {
  return openApiDocument(specs, {
    dialect: AUCTION_DIALECT,
    title: 'Sotto auctions',
    version: INTERFACE_VERSION,
    description: INTRODUCTION,
    tags: TAGS,
    tagOf: ({ path }) => tagOfPath(path),
    codes: CODE_MEANINGS,
    fields: FIELD_MEANINGS,
    explained: EXPLAINED,
    sessionScheme: 'session',
    examplesOf: recordedAnswers,
  });
}
