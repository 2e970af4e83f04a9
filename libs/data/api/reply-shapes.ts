import type { Shape } from '#libs/edge/documents/shapes.js';

/** A field that is always present, and null if unknown. */
export function orNull(shape: Shape): Shape {
  return { describe: () => ({ anyOf: [shape.describe(), { type: 'null' }] }) };
}

/** An object with keys that the caller chose. */
export function byKey(shape: Shape): Shape {
  return { describe: () => ({ type: 'object', additionalProperties: shape.describe() }) };
}

/** An object as the venue or the recording wrote it. */
export const asItCame: Shape = { describe: () => ({ type: 'object' }) };

export const numberShape: Shape = { describe: () => ({ type: 'number' }) };
export const unitPrice: Shape = { describe: () => ({ type: 'number', minimum: 0, maximum: 1 }) };
export const timeShape: Shape = { describe: () => ({ type: 'string', format: 'date-time' }) };

/** A weak entity tag: replies with the same tag are the same to a reader. */
export const weakTag: Shape = { describe: () => ({ type: 'string', pattern: '^W/"[A-Za-z0-9_-]+"$' }) };
