import { isUtf8 } from 'node:buffer';
import { NumberToken, ObjectScan, skipWhitespace, type ScannedNumber, type ScanRules } from './json-scan.js';

export type JsonRules = ScanRules;
export type JsonFault = 'invalid-json' | 'trailing-data';

/** A JSON value without null and with plain numbers. */
export type JsonValue = string | number | boolean | JsonObject | readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** An object whose values may be null or number tokens, as the rules allow. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: JsonFault };

/** No null, integers from 0 to 2^53-1, at most 64 levels. */
export const STRICT_JSON: JsonRules = { numbers: 'atoms', maxDepth: 64, nulls: 'refused' };
const INVALID = { ok: false, fault: 'invalid-json' } as const;
const TRAILING = { ok: false, fault: 'trailing-data' } as const;

/** Parses UTF-8 without a byte order mark that holds exactly one object, without repeated keys. */
export function parseJson(bytes: Uint8Array, rules: JsonRules): Parsed<JsonRecord> {
  const text = textOf(bytes);
  return text === undefined ? INVALID : parsed(text, rules, isRecord);
}

export function parseStrictBytes(bytes: Uint8Array): Parsed<JsonObject> {
  const text = textOf(bytes);
  return text === undefined ? INVALID : parsed(text, STRICT_JSON, isJsonObject);
}

export function parseStrictText(text: string): Parsed<JsonObject> {
  return text.isWellFormed() ? parsed(text, STRICT_JSON, isJsonObject) : INVALID;
}

/** The repeated field, if that is why `parseJson` refused the text. */
export function repeatedField(bytes: Uint8Array, rules: JsonRules): string | undefined {
  const text = textOf(bytes);
  if (text === undefined) return undefined;
  const scan = new ObjectScan(text, rules);
  scan.end();
  return scan.repeated;
}

function textOf(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/**
 * Checks the first value before anything after it. `{"a":null} {}` is invalid JSON; `{} {"a":null}`, `{}}` and `{} x` are an
 * object with trailing data.
 */
function parsed<T>(text: string, rules: JsonRules, isObject: (value: unknown) => value is T): Parsed<T> {
  const scan = new ObjectScan(text, rules);
  const end = scan.end();
  if (end === undefined) return INVALID;
  const isAll = skipWhitespace(text, end) === text.length;
  try {
    const value = valueOf(isAll ? text : text.slice(0, end), scan.found);
    if (!isObject(value)) return INVALID;
    return isAll ? { ok: true, value } : TRAILING;
  } catch {
    return INVALID;
  }
}

/** JSON.parse would round raw numbers. It gets their indices instead, which are then replaced by tokens. */
function valueOf(text: string, numbers: readonly ScannedNumber[]): unknown {
  if (numbers.length === 0) return JSON.parse(text);
  const pieces: string[] = [];
  let from = 0;
  for (const [index, { start, end }] of numbers.entries()) {
    pieces.push(text.slice(from, start), String(index));
    from = end;
  }
  const value: unknown = JSON.parse(pieces.join('') + text.slice(from));
  return withTokens(value, (index) => {
    const { start, end } = numbers[index] ?? { start: 0, end: 0 };
    return new NumberToken(text.slice(start, end));
  });
}

/** Recursion is bounded by the depth that the scan allows. */
function withTokens(value: unknown, tokenOf: (index: number) => NumberToken): unknown {
  if (typeof value === 'number') return tokenOf(value);
  if (Array.isArray(value)) return value.map((element) => withTokens(element, tokenOf));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTokens(inner, tokenOf)]));
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Called only for a text that the scan accepted, whose values are therefore all plain. */
function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}
