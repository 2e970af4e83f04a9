import { Parser } from '@asyncapi/parser';
import { describe, expect, it } from '@jest/globals';
import { messagesOf } from '#libs/edge/documents/asyncapi-types.js';
import { CLOSE } from '#libs/socket/socket.js';
import { CLIENT_OPS } from '../../stream/client-messages.js';
import { SERVER_MESSAGES } from '../../stream/server-messages.js';
import { socketDocument } from './socket-document.js';

/** The hint that a later version of AsyncAPI exists is no fault. */
const ACCEPTED = new Set(['asyncapi-latest-version']);
const BY_THE_LIBRARY = [1002, 1007, 1008, 1009];
const document = socketDocument('1.0.0');

describe('the AsyncAPI document of /ws', () => {
  it('is valid', async () => {
    const { diagnostics } = await new Parser().parse(JSON.stringify(document));
    const faults = diagnostics.filter(({ code }) => !ACCEPTED.has(String(code)));
    expect(faults.map(({ code, message, path }) => [code, message, path.join('.')])).toEqual([]);
  });

  it('has exactly the messages of both directions', () => {
    const namesOf = (action: 'send' | 'receive'): string[] =>
      messagesOf(document, action).map(({ name }) => name);
    expect(namesOf('receive')).toEqual([...CLIENT_OPS]);
    expect(namesOf('send')).toEqual([...SERVER_MESSAGES]);
  });

  it('has exactly the close codes that are sent', () => {
    const documented = Object.entries(document.channels.stream['x-close-codes']);
    expect(documented.map(([code]) => Number(code))).toEqual(
      [...BY_THE_LIBRARY, ...Object.values(CLOSE)].sort((a, b) => a - b),
    );
    expect(documented.filter(([, text]) => text === '')).toEqual([]);
  });

  it('describes every field', () => {
    const silent = Object.entries(document.components.schemas).flatMap(([name, { properties }]) =>
      fieldsIn(properties)
        .filter(([, field]) => !isDescribed(field))
        .map(([field]) => `${name}.${field}`),
    );
    expect(silent).toEqual([]);
  });
});

function fieldsIn(properties: unknown): [string, unknown][] {
  return typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
}

function isDescribed(field: unknown): boolean {
  return typeof field === 'object' && field !== null && ('description' in field || 'const' in field);
}
