import { parseDecimal } from '#libs/base/decimals.js';
import type { Instant } from '#libs/base/instant.js';
import { MISMATCH, type JsonSchema } from '#libs/edge/decoding/decode.js';
import { normalInstant } from '#libs/edge/decoding/instant-text.js';
import type { Query } from '#libs/edge/decoding/query.js';
import type { Micros } from '../rules/micros.js';
import { wrongField } from './refusals.js';

const CODE = 'VALIDATION_INVALID_PARAMETER';
const INTEGER = /^(?:0|[1-9]\d{0,15})$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const PLACES = 6;

/** The query parameters of one call as text. The handler reads and checks each one in its own order. */
export class Params {
  constructor(private readonly values: ReadonlyMap<string, readonly string[]>) {}

  all(name: string): readonly string[] {
    return this.values.get(name) ?? [];
  }

  text(name: string, isRight: (text: string) => boolean = () => true): string | undefined {
    const [value] = this.all(name);
    if (value !== undefined && !isRight(value)) throw this.wrong(name);
    return value;
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw wrongField(CODE, name, `${name} is missing`);
    return value;
  }

  integer(name: string, min: number, max: number, usual: number): number {
    const text = this.text(name, (value) => INTEGER.test(value));
    const value = text === undefined ? usual : Number(text);
    if (value < min || value > max) throw this.wrong(name);
    return value;
  }

  word<const W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = words.find((word) => word === value);
    if (found === undefined) throw this.wrong(name);
    return found;
  }

  time(name: string): Instant | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const read = normalInstant(value);
    if (read === undefined) throw this.wrong(name);
    return read;
  }

  uuid(name: string): string | undefined {
    return this.text(name, isUuidText)?.toLowerCase();
  }

  micros(name: string, isRight: (value: Micros) => boolean): Micros {
    const exact = parseDecimal(this.required(name), PLACES);
    if (exact === undefined || !isRight(exact.units)) throw this.wrong(name);
    return exact.units;
  }

  wrong(name: string): ReturnType<typeof wrongField> {
    return wrongField(CODE, name, `${name} is wrong`);
  }
}

/** A UUID of any version, in upper or lower case. */
export function isUuidText(text: string): boolean {
  return UUID.test(text);
}

export interface ParamNames {
  readonly names: Readonly<Record<string, JsonSchema>>;
  /** Parameters that may be repeated. */
  readonly repeatable?: readonly string[];
  /** Set if unknown parameters are ignored. */
  readonly others?: 'ignored';
}

/** Refuses unknown and repeated parameters. Handlers read the values later. */
export function params({ names, repeatable = [], others }: ParamNames): Query<Params> {
  return {
    fault: CODE,
    read(raw, reading) {
      const values = new Map<string, string[]>();
      for (const [name, value] of pairsOf(raw) ?? [['', '']]) {
        if (name !== '' && others === 'ignored' && !Object.hasOwn(names, name)) continue;
        const known = values.get(name);
        if (!Object.hasOwn(names, name) || (known !== undefined && !repeatable.includes(name))) {
          reading?.refuse(name, known === undefined ? 'unknown' : 'repeated');
          return MISMATCH;
        }
        values.set(name, [...(known ?? []), value]);
      }
      return new Params(values);
    },
    describe: () => names,
  };
}

/** Undefined if the query is malformed: a broken escape, or an empty name or value. */
function pairsOf(raw: string): [string, string][] | undefined {
  if (raw === '') return [];
  const pairs: [string, string][] = [];
  for (const part of raw.split('&')) {
    const equals = part.indexOf('=');
    if (equals < 1 || equals === part.length - 1) return undefined;
    try {
      const [name, value] = [part.slice(0, equals), part.slice(equals + 1)].map((text) =>
        decodeURIComponent(text.replaceAll('+', ' ')),
      );
      if (name === undefined || value === undefined) return undefined;
      pairs.push([name, value]);
    } catch {
      return undefined;
    }
  }
  return pairs;
}

/** For calls without parameters. */
export const NO_PARAMS = params({ names: {} });
