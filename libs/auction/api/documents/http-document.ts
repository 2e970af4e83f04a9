import path from 'node:path';
import { openApiDocument } from '#libs/edge/documents/openapi.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { AUCTION_DIALECT } from '../refusals.js';
import { CODE_MEANINGS } from './code-meanings.js';
import { FIELD_MEANINGS } from './field-meanings.js';
import { INTRODUCTION, tagOfPath, TAGS } from './http-text.js';
import { existsSync, readFileSync } from 'node:fs';
import type { OperationExamples } from '#libs/edge/documents/about.js';

export const INTERFACE_VERSION = '1.0.0-pilot';
/** Refusals of the engine have a message. */
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

const FOLDER = path.join(rootOf(import.meta.dirname), 'docs/examples');

/** Real answers, recorded by the tests. A document without examples is still valid. */
export function recordedAnswers(operationId: string): OperationExamples | undefined {
  return contentOf(operationId) as OperationExamples | undefined;
}

/** Real frames of the stream, by the name of their message. */
export function recordedFrames(): Readonly<Record<string, unknown>> {
  return (contentOf('stream') ?? {}) as Readonly<Record<string, unknown>>;
}

function contentOf(name: string): unknown {
  const file = path.join(FOLDER, `${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** The folder of package.json, for compiled and uncompiled code. */
function rootOf(folder: string): string {
  const above = path.dirname(folder);
  return existsSync(path.join(folder, 'package.json')) || above === folder ? folder : rootOf(above);
}
