import { describe, expect, it } from '@jest/globals';
import { Parser } from '@asyncapi/parser';
import { settings } from '#apps/launcher/config.js';
import { messagesOf } from '#libs/edge/documents/asyncapi-types.js';
import { CLIENT_MESSAGES } from '#libs/stream/client-messages.js';
import { SERVER_MESSAGES } from '#libs/stream/server-messages.js';
import { CLOSE } from '#libs/stream/socket.js';
import { SchemaSet } from '#libs/testing/interface/schema-set.js';
import { stream } from './described-interface.js';

/** That there is a later version of AsyncAPI is no fault of ours: the contract's readers have tools for this one. */
const ACCEPTED = new Set(['asyncapi-latest-version']);

const namesOf = (action: 'send' | 'receive'): string[] =>
  messagesOf(stream, action)
    .map(({ name }) => name)
    .sort();

describe('the AsyncAPI document', () => {
  it('is valid', async () => {
    const { document, diagnostics } = await new Parser().parse(JSON.stringify(stream));
    const faults = diagnostics.filter(({ code }) => !ACCEPTED.has(String(code)));
    expect(faults.map(({ code, message, path }) => [code, message, path.join('.')])).toEqual([]);
    expect(document?.version()).toBe('3.0.0');
  });

  it('has every message of both directions, and no others', () => {
    expect(namesOf('receive')).toEqual([...CLIENT_MESSAGES].sort());
    expect(namesOf('send')).toEqual([...SERVER_MESSAGES].sort());
  });

  it('names a server for production, with TLS, and the one that npm start starts, without', () => {
    const { production, local } = stream.servers;
    expect(production?.protocol).toBe('wss');
    const port = settings.PORT.default;
    expect([local?.protocol, local?.host, local?.variables]).toEqual([
      'ws',
      'localhost:{port}',
      { port: expect.objectContaining({ default: port }) as unknown },
    ]);
  });

  it('names a reply for every message of a client', () => {
    const known = new Set(Object.keys(stream.channels.stream.messages));
    for (const { action, reply } of Object.values(stream.operations)) {
      const replies = reply?.messages.map(({ $ref }) => $ref.split('/').at(-1) ?? '') ?? [];
      expect(replies.length > 0).toBe(action === 'receive');
      expect(replies.filter((key) => !known.has(key))).toEqual([]);
    }
  });

  it('has every close code that is sent', () => {
    const documented = Object.keys(stream.channels.stream['x-close-codes']);
    expect(documented).toEqual(expect.arrayContaining(Object.values(CLOSE).map(String)));
  });

  it('describes every field', () => {
    const silent = Object.entries(stream.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(
        properties as Readonly<Record<string, { readonly description?: string; readonly const?: unknown }>>,
      )
        .filter(([, field]) => field.description === undefined)
        .map(([field]) => `${name}.${field}`),
    );
    expect(silent).toEqual([]);
  });

  it('gives examples that are what it says', () => {
    const schemas = new SchemaSet(stream.components.schemas);
    const faults = Object.values(stream.channels.stream.messages).flatMap(
      ({ name, payload, examples = [] }) =>
        examples
          .flatMap((example) => schemas.faults(payload, example.payload))
          .map((fault) => `${name}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });
});
