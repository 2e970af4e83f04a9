import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Parser } from '@asyncapi/parser';
import { settings } from '#apps/launcher/config.js';
import { messagesOf } from '#libs/edge/documents/asyncapi-types.js';
import { CLIENT_MESSAGES } from '#libs/auction/stream/client-messages.js';
import { SERVER_MESSAGES } from '#libs/auction/stream/server-messages.js';
import { CLOSE } from '#libs/socket/socket.js';
import { SchemaSet } from '#libs/testing/interface/schema-set.js';
import { http, stream } from './described-interface.js';

/** A token is valid for all of this stream or not at all, so no stream is closed as forbidden. */
const SENT_BY_US: readonly number[] = Object.values(CLOSE).filter((code) => code !== CLOSE.forbidden);
/** The WebSocket library closes with these itself; end-to-end tests see each of them. */
const SENT_BY_THE_LIBRARY = [1002, 1007, 1008, 1009];
const SOURCES = ['libs/auction/stream', 'libs/socket']
  .flatMap((folder) => filesIn(folder, '.ts'))
  .filter((file) => !file.endsWith('.spec.ts'))
  .map((file) => readFileSync(file, 'utf8'));

function filesIn(folder: string, ending: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith(ending)).map((file) => path.join(folder, file));
}

/** Codes of the service's own range, 4400 to 4599, that it never closes with. */
function unsentIn(text: string): string[] {
  const named = [...text.matchAll(/(?<![\w.,-])4[45]\d\d(?![\w-])/g)].map(([code]) => code);
  return named.filter((code) => !SENT_BY_US.includes(Number(code)));
}

/** A later version of AsyncAPI exists, but the readers of the contract have tools for this one. */
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

  it('names a server for production, with TLS, and the one that npm start runs, without', () => {
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

  it('has every close code that is sent, and no others', () => {
    const documented = Object.keys(stream.channels.stream['x-close-codes']);
    expect(documented.sort()).toEqual([...SENT_BY_US, ...SENT_BY_THE_LIBRARY].map(String).sort());
  });

  it.each(Object.keys(CLOSE))('documents the close code of a stream closed as %s', (name) => {
    expect(SOURCES.some((text) => text.includes(`CLOSE.${name}`))).toBe(true);
  });

  it.each(['README.md', ...filesIn('docs', '.md')])('and %s names only codes that are sent', (file) => {
    expect(unsentIn(readFileSync(file, 'utf8'))).toEqual([]);
  });

  it('names only codes that are sent', () => {
    expect(unsentIn(JSON.stringify([stream, http]))).toEqual([]);
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

  it('has examples that match its schemas', () => {
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
