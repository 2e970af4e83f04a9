import { prefers } from './accept.js';
import type { Reply } from './reply.js';

export const NDJSON = 'application/x-ndjson';
const CHUNK_CHARS = 16_384;

export function wantsNdjson(accept: string | undefined): boolean {
  return prefers(accept, NDJSON, 'application/json');
}

/**
 * One entry per line, and a last line that confirms completeness, so that a reader notices when the text was cut off. Lines are
 * sent in larger pieces, because one write per line would be too costly.
 */
export function ndjsonReply(
  entries: Iterable<object | string> | AsyncIterable<object | string>,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status: 200, headers, stream: { contentType: NDJSON, chunks: pieces(entries) } };
}

async function* pieces(
  entries: Iterable<object | string> | AsyncIterable<object | string>,
): AsyncGenerator<string> {
  let count = 0;
  let piece = '';
  for await (const entry of entries) {
    piece += `${typeof entry === 'string' ? entry : JSON.stringify(entry)}\n`;
    count += 1;
    if (piece.length < CHUNK_CHARS) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}{"complete":true,"count":${count}}\n`;
}
