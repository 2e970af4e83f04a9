import { describe, expect, it } from '@jest/globals';
import { entityTag, namesTag } from '../reply/reply.js';

const tag = entityTag('a text');

describe('an entity tag', () => {
  it('is that of its text alone', () => {
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
  ])('is named by %j: %s', (header, named) => {
    expect(namesTag(header, tag)).toBe(named);
  });

  it('that an answer does not have is never named', () => {
    expect(namesTag('*', undefined)).toBe(false);
  });
});
