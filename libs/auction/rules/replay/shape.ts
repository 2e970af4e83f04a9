import { BUNDLE_FORMAT, BUNDLE_VERSION, type ReplayBundle, SIGNATURE_ALGORITHM } from './bundle.js';

type Kind = 'text' | 'whole' | 'object' | 'list';
type Fields = Readonly<Record<string, unknown>>;
type Shape<T> = Readonly<Record<keyof T, Kind>>;

const FRAME: Shape<ReplayBundle> = {
  format: 'text',
  version: 'whole',
  auction_id: 'text',
  rule_version: 'whole',
  status: 'text',
  terms: 'object',
  ranking: 'list',
  record_count: 'whole',
  head: 'text',
  attestation: 'object',
  records: 'list',
};

const ATTESTATION: Shape<ReplayBundle['attestation']> = {
  algorithm: 'text',
  key_id: 'text',
  public_key: 'text',
  signature: 'text',
};

const RECORD: Shape<ReplayBundle['records'][number]> = {
  number: 'whole',
  shard: 'whole',
  epoch: 'whole',
  position: 'whole',
  type: 'text',
  version: 'whole',
  occurred_at: 'text',
  data: 'object',
  hash: 'text',
  previous: 'text',
  digest: 'text',
};

export type Read = { readonly ok: true; readonly bundle: ReplayBundle } | NotRead;
export interface NotRead {
  readonly ok: false;
  readonly findings: readonly Finding[];
}

/** Returns the value as a bundle if its frame has every field, of the right kind, and no other field. */
export function readBundle(value: unknown): Read {
  if (!isObject(value)) return refused('it is not a JSON object');
  if (value.format !== BUNDLE_FORMAT) return refused('its format is not that of a replay bundle');
  if (value.version !== BUNDLE_VERSION)
    return refused('this program does not know the version of the bundle');
  const findings = faultsOf(value, FRAME).map((what): Finding => ({ what }));
  if (isObject(value.attestation)) {
    for (const what of faultsOf(value.attestation, ATTESTATION))
      findings.push({ what: `attestation: ${what}` });
    if (value.attestation.algorithm !== SIGNATURE_ALGORITHM)
      findings.push({ what: 'attestation: this program does not know the algorithm' });
  }
  if (Array.isArray(value.records)) {
    if (value.records.length === 0) findings.push({ what: 'it holds no records' });
    value.records.forEach((record: unknown, index) => {
      for (const what of isObject(record) ? faultsOf(record, RECORD) : ['it is not an object'])
        findings.push(about(nameOf(record, index + 1), what));
    });
  }
  return isFaultless(value, findings) ? { ok: true, bundle: value } : { ok: false, findings };
}

function isFaultless(_value: unknown, findings: readonly Finding[]): _value is ReplayBundle {
  return findings.length === 0;
}

function refused(what: string): NotRead {
  return { ok: false, findings: [{ what }] };
}

function faultsOf(value: Fields, shape: Readonly<Record<string, Kind>>): string[] {
  const faults = Object.entries(shape).flatMap(([name, kind]) => {
    if (!Object.hasOwn(value, name)) return [`${name} is missing`];
    return isOf(kind, value[name]) ? [] : [`${name} has the wrong type`];
  });
  const extras = Object.keys(value).filter((name) => !Object.hasOwn(shape, name));
  return [...faults, ...extras.map((name) => `${name} does not belong there`)];
}

function isOf(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'whole':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
    case 'object':
      return isObject(value);
    case 'list':
      return Array.isArray(value);
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(record: unknown, number: number) {
  const { position, type } = isObject(record) ? record : {};
  return {
    number,
    position: typeof position === 'number' ? position : 0,
    type: typeof type === 'string' ? type : 'unknown',
  };
}

/** Identifies a record: its number in the bundle, and the position and type that it states. */
export interface RecordName {
  readonly number: number;
  readonly position: number;
  readonly type: string;
}

/** A fault in a bundle. Without a record it concerns the part beside the records. */
export interface Finding {
  readonly record?: RecordName;
  readonly what: string;
}

export function about(record: RecordName, what: string): Finding {
  const { number, position, type } = record;
  return { record: { number, position, type }, what };
}
