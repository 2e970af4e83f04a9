import { isUtf8 } from 'node:buffer';
import { ObjectScan, skipWhitespace, type NumberRule } from './json-scan.js';

export type JsonFault = 'invalid_json' | 'multiple_json_values';

/** What strict JSON can say: there is no null in it. */
export type JsonValue = string | number | boolean | JsonObject | readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export type ParsedJson =
  { readonly ok: true; readonly value: JsonObject } | { readonly ok: false; readonly code: JsonFault };

export interface StrictJsonOptions {
  readonly numbers: NumberRule;
}

const ATOMS: StrictJsonOptions = { numbers: 'atoms' };
const INVALID: ParsedJson = { ok: false, code: 'invalid_json' };
const MULTIPLE: ParsedJson = { ok: false, code: 'multiple_json_values' };

/** UTF-8 without a byte order mark, holding exactly one object of at most 64 levels, without null or repeated keys. */
export function parseJsonBytes(bytes: Uint8Array, options: StrictJsonOptions = ATOMS): ParsedJson {
  if (!isUtf8(bytes)) return INVALID;
  return parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'), options);
}

export function parseJsonText(text: string, options: StrictJsonOptions = ATOMS): ParsedJson {
  return text.isWellFormed() ? parse(text, options) : INVALID;
}

/**
 * The first value is judged before what follows it: `{"a":null} {}` is invalid, `{} {"a":null}`, `{}}` and `{} x` are an
 * object with something behind it.
 */
function parse(text: string, options: StrictJsonOptions): ParsedJson {
  const end = new ObjectScan(text, options.numbers).end();
  if (end === undefined) return INVALID;
  const trailing = skipWhitespace(text, end) < text.length;
  try {
    const value: unknown = JSON.parse(trailing ? text.slice(0, end) : text);
    if (!isJsonObject(value)) return INVALID;
    return trailing ? MULTIPLE : { ok: true, value };
  } catch {
    return INVALID;
  }
}

/** Only ever asked of what the scan has passed, where an object is all that is left to tell from other values. */
function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
