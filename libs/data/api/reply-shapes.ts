import type { Shape } from '#libs/edge/documents/shapes.js';

/** Of fields that are always there and not always known. */
export function orNull(shape: Shape): Shape {
  return { describe: () => ({ anyOf: [shape.describe(), { type: 'null' }] }) };
}

/** An object whose keys are the caller's. */
export function byKey(shape: Shape): Shape {
  return { describe: () => ({ type: 'object', additionalProperties: shape.describe() }) };
}

/** An object as a venue, or whoever recorded it, has written it. */
export const asItCame: Shape = { describe: () => ({ type: 'object' }) };

export const numberShape: Shape = { describe: () => ({ type: 'number' }) };
export const unitPrice: Shape = { describe: () => ({ type: 'number', minimum: 0, maximum: 1 }) };
export const timeShape: Shape = { describe: () => ({ type: 'string', format: 'date-time' }) };

/** Of replies that may be kept: alike in all that matters to a reader. */
export const weakTag: Shape = { describe: () => ({ type: 'string', pattern: '^W/"[A-Za-z0-9_-]+"$' }) };
