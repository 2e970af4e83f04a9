import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { markup } from '#libs/edge/documents/page/markup.js';
import { markdown } from '#libs/edge/documents/page/markdown.js';
import { documentPage } from '#libs/edge/documents/page/page.js';
import { executionDocument } from '#libs/execution/api/documents/http-document.js';
import { executionSpecs } from '#libs/execution/api/documents/interface.js';
import { socketDocument } from '#libs/execution/api/documents/socket-document.js';
import { http, stream } from './described-interface.js';

const DOCUMENTED = [
  ['the auctions', http, stream],
  ['order execution', executionDocument(executionSpecs()), socketDocument('1')],
] as const;

describe.each(DOCUMENTED)('the page of %s', (_, http, stream) => {
  const { html, policy } = documentPage(http, stream);
  const all = (pattern: RegExp): string[] => [...html.matchAll(pattern)].map(([, found]) => found ?? '');

  it('needs no other file: no script, no link to a resource, no style outside the policy', () => {
    const foreign = /<(?:script|link|img|iframe|object|form|base)\b|\son\w+=|\sstyle=|javascript:/i;
    expect(foreign.exec(html)?.[0]).toBeUndefined();
    const styles = all(/<style>(.*?)<\/style>/gs);
    expect(styles).toHaveLength(1);
    expect(styles[0]).not.toMatch(/url\(|@import/);
    const hash = createHash('sha256')
      .update(styles[0] ?? '')
      .digest('base64');
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it('links to anchors on itself and to the documents', () => {
    const ids = new Set(all(/ id="([^"]+)"/g));
    expect(ids.size).toBe(all(/ id="([^"]+)"/g).length);
    const targets = all(/ href="([^"]+)"/g).filter(
      (target) => !['openapi.json', 'asyncapi.json'].includes(target),
    );
    expect(targets.filter((target) => !ids.has(target.slice(1)))).toEqual([]);
  });

  it('shows every operation, every message and every close code', () => {
    const ids = new Set(all(/ id="([^"]+)"/g));
    const operations = Object.values(http.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    const messages = Object.values(stream.channels.stream.messages).map(({ name }) => `message-${name}`);
    expect([...operations, ...messages].filter((id) => !ids.has(id))).toEqual([]);
    for (const code of Object.keys(stream.channels.stream['x-close-codes'])) expect(html).toContain(code);
  });

  it('is well formed', () => {
    const open: string[] = [];
    for (const [, slash, name = ''] of html.matchAll(/<(\/?)([a-z]\w*)[^>]*>/g)) {
      if (name === 'meta') continue;
      if (slash === '') open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
  });
});

describe('a value inserted into the page', () => {
  it('is text, whatever it looks like', () => {
    expect(markup`<p title="${'"'}">${"<b>&'"}</p>`.text).toBe('<p title="&quot;">&lt;b&gt;&amp;&#39;</p>');
    expect(markdown('a `<b>` **c**\nd').text).toBe('<p>a <code>&lt;b&gt;</code> <strong>c</strong> d</p>');
  });
});
