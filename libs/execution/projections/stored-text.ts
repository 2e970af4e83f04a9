import { toWire } from '../protocol/wire.js';

/** The same members always give the same text, in whatever order the fold has come to them: rows do not depend on what was remembered. */
export function storedText(value: object): string {
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return toWire(Object.fromEntries(members));
}
