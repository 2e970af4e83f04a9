import { parseDecimal } from '#libs/base/decimals.js';
import type { Instant } from '#libs/base/instant.js';
import { characters } from '#libs/edge/decoding/decode-scalars.js';
import { normalInstant } from '#libs/edge/decoding/instant-text.js';
import { NumberToken } from '#libs/edge/decoding/json-scan.js';
import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import type { Micros } from '../rules/micros.js';
import { refuse, wrongField } from './refusals.js';

const PLACES = 6;

/**
 * Reads the fields of one body. Each call passes the error code of its field, and the order of the calls decides which
 * of several wrong fields is reported. Null counts as absent.
 */
export class BodyFields {
  constructor(
    private readonly record: JsonRecord,
    known: readonly string[],
    /** The error code of fields without a code of their own. */
    private readonly code: string,
  ) {
    const unknown = Object.keys(record).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw refuse('VALIDATION_UNKNOWN_FIELD', `${shown(unknown)} is no field of this call`, {
        field: unknown,
      });
    }
  }

  has(name: string): boolean {
    return this.valueOf(name) !== undefined;
  }

  /** Undefined if the field is absent or null. */
  valueOf(name: string): unknown {
    return Object.hasOwn(this.record, name) ? (this.record[name] ?? undefined) : undefined;
  }

  text(name: string, isRight: (text: string) => boolean = () => true, code = this.code): string | undefined {
    const value = this.valueOf(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || !isRight(value)) throw this.wrong(name, code);
    return value;
  }

  requiredText(name: string, isRight: (text: string) => boolean = isFilled, code = this.code): string {
    const read = this.text(name, isRight, code);
    if (read === undefined) throw wrongField(code, name, `${name} is missing`);
    return read;
  }

  word<const W extends string>(name: string, words: readonly W[], code = this.code): W | undefined {
    const value = this.valueOf(name);
    if (value === undefined) return undefined;
    const found = words.find((word) => word === value);
    if (found === undefined) throw wrongField(code, name, `${name} must be one of ${words.join(', ')}`);
    return found;
  }

  flag(name: string, code = this.code): boolean | undefined {
    const value = this.valueOf(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'boolean') throw this.wrong(name, code);
    return value;
  }

  integer(name: string, min: number, max: number, code = this.code): number | undefined {
    const value = this.valueOf(name);
    if (value === undefined) return undefined;
    const exact = value instanceof NumberToken ? parseDecimal(value.text, 0) : undefined;
    if (exact === undefined || exact.units < BigInt(min) || exact.units > BigInt(max)) {
      throw wrongField(code, name, `${name} must be a whole number from ${min} to ${max}`);
    }
    return Number(exact.units);
  }

  /** An exact decimal with at most six decimal places. */
  micros(name: string, isRight: (value: Micros) => boolean, code = this.code): Micros | undefined {
    const value = this.valueOf(name);
    if (value === undefined) return undefined;
    const exact = value instanceof NumberToken ? parseDecimal(value.text, PLACES) : undefined;
    if (exact === undefined || !isRight(exact.units)) throw this.wrong(name, code);
    return exact.units;
  }

  time(name: string, code = this.code): Instant | undefined {
    const value = this.valueOf(name);
    if (value === undefined) return undefined;
    const read = typeof value === 'string' ? normalInstant(value) : undefined;
    if (read === undefined) throw wrongField(code, name, `${name} must be a time in RFC 3339, UTC`);
    return read;
  }

  wrong(name: string, code = this.code): ReturnType<typeof wrongField> {
    return wrongField(code, name, `${name} is wrong`);
  }

  missing(name: string, code = this.code): ReturnType<typeof wrongField> {
    return wrongField(code, name, `${name} is missing`);
  }
}

export function isFilled(text: string): boolean {
  return text.length > 0 && text.length <= LONGEST_ID;
}

const LONGEST_ID = 256;
const SHOWN = 64;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export function isPrintable(text: string, max: number): boolean {
  return text.length > 0 && characters(text) <= max && !UNPRINTABLE.test(text);
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, SHOWN));
}
