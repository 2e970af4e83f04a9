import type { z } from 'zod';
import type { Quarantined } from '../source.js';

/** The value read from a response body, or the whole body if it is not valid. */
export type BodyReading<T> = { readonly value: T; readonly body: string } | Quarantined;

export function isQuarantined<T>(reading: BodyReading<T>): reading is Quarantined {
  return 'quarantined' in reading;
}

export function quarantined(what: string, why: string, body: string): Quarantined {
  return { quarantined: `${what}: ${why}`, body };
}

/** Converts the value of a reading. `map` throws `BadBody` for an unknown word or a missing field; the body is then quarantined. */
export function mapped<T, U>(what: string, reading: BodyReading<T>, map: (value: T) => U): BodyReading<U> {
  if (isQuarantined(reading)) return reading;
  try {
    return { value: map(reading.value), body: reading.body };
  } catch (error) {
    if (error instanceof BadBody) return quarantined(what, error.message, reading.body);
    throw error;
  }
}

/** A body that has the right form, but an impossible content. */
export class BadBody extends Error {
  override readonly name = 'BadBody';
}

export function readBody<T>(what: string, body: string, shape: z.ZodType<T>): BodyReading<T> {
  const parsed = parsedJson(body);
  if (parsed === undefined) return quarantined(what, 'it is not JSON', body);
  const read = shape.safeParse(parsed.value);
  if (read.success) return { value: read.data, body };
  const [first] = read.error.issues;
  return quarantined(what, `${first?.path.map(String).join('.') ?? ''}: ${first?.message ?? ''}`, body);
}

function parsedJson(body: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) };
  } catch {
    return undefined;
  }
}
