import { describe, expect, it } from '@jest/globals';
import { wantsNdjson } from './ndjson.js';

describe('the Accept header', () => {
  it.each([
    'application/x-ndjson',
    'Application/X-NDJSON',
    'application/x-ndjson;q=0.1',
    'application/x-ndjson; q=1.000',
    'application/x-ndjson, application/json;q=0.9',
    'application/json;q=0.5, application/x-ndjson;q=0.6',
    'application/x-ndjson, */*',
    'application/x-ndjson, application/*;q=0.2',
    'text/html, application/x-ndjson',
  ])('%s prefers NDJSON', (accept) => {
    expect(wantsNdjson(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'application/*',
    'application/json',
    'application/x-ndjson;q=0',
    'application/x-ndjson;q=0.0, application/json',
    'application/x-ndjson, application/json',
    'application/x-ndjson;q=0.5, application/json',
    'application/x-ndjson;q=0.5, */*',
    'application/x-ndjson;q=2',
    'application/x-ndjson;q=abc',
    'application/x-ndjsonx',
    'ndjson',
    'text/plain',
  ])('%s is answered in JSON', (accept) => {
    expect(wantsNdjson(accept)).toBe(false);
  });
});
