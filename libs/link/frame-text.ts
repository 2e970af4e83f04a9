import type { RawData } from 'ws';

/** The text of a frame; ws hands it over in one buffer unless it is told otherwise. */
export function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}
