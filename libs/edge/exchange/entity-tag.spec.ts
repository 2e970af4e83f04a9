import { describe, expect, it } from '@jest/globals';
import { entityTag, namesTag } from '../reply/reply.js';

const tag = entityTag('a text');

describe('an entity tag', () => {
  it('depends only on its text', () => {
    expect(entityTag('a text')).toBe(tag);
    expect(entityTag('another text')).not.toBe(tag);
    expect(tag).toMatch(/^"[\w-]{22}"$/);
  });

  it.each([
    [tag, true],
    [`W/${tag}`, true],
    [`"other", ${tag}`, true],
    ['*', true],
    ['"other"', false],
    [tag.replaceAll('"', ''), false],
    ['', false],
    [undefined, false],
  ])('matches If-None-Match %j: %s', (header, named) => {
    expect(namesTag(header, tag)).toBe(named);
  });

  it('is never matched by a reply without a tag', () => {
    expect(namesTag('*', undefined)).toBe(false);
  });
});
