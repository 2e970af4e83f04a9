import { type FaultLocation, Reading } from '../decoding/reading.js';
import { MISMATCH } from '../decoding/decode.js';
import { parseJson, repeatedField } from '../decoding/strict-json.js';
import type { DialectRules } from '../dialect/dialect-rules.js';
import type { EndpointSpec } from '../endpoint.js';
import { idempotencyKey as readKey } from '../exchange/idempotency-key.js';
import { valuesOf } from '../exchange/request-headers.js';
import type { Check, CheckOutcome, Inspection } from './check.js';

const KEY_HEADER = 'idempotency-key';
const KEY_FIELD = 'idempotency_key';
const NO_BYTES = Buffer.alloc(0);

export const ids: Check = {
  name: 'ids',
  after: ['method'],
  run(inspection) {
    const { spec, idNames } = inspection.found;
    const captured = inspection.match?.captured ?? [];
    const values: Record<string, string> = {};
    for (const [index, name] of idNames.entries()) {
      const kind = spec.ids?.[name];
      const segment = captured[index];
      if (kind === undefined || segment === undefined)
        throw new Error(`${spec.operationId} has no id ${name}`);
      if (!kind.accepts(segment)) {
        return { kind: 'invalid-id', spec, code: kind.fault, location: { path: [name], reason: 'mismatch' } };
      }
      values[name] = segment;
    }
    inspection.ids = values;
    return undefined;
  },
};

export const query: Check = {
  name: 'query',
  after: ['method'],
  run(inspection, { dialect }) {
    const { spec } = inspection.found;
    const reading = new Reading({ unknown: dialect.unknownParameters, nulls: 'refused' });
    const read = readQuery(spec, inspection.rawQuery, reading);
    if (read === MISMATCH) {
      const { location, locations } = reading;
      return { kind: 'invalid-query', spec, code: queryFault(spec), location, locations };
    }
    inspection.query = read;
    return undefined;
  },
};

export const body: Check = {
  name: 'body',
  after: ['size'],
  readsBody: true,
  run(inspection, { dialect }) {
    const { spec } = inspection.found;
    return spec.body === undefined
      ? checkEmptyBody(inspection, dialect)
      : readContent(inspection, { spec, kind: spec.body }, dialect);
  },
};

/** The key is in the header, in the body, or identical in both. */
export const idempotencyKey: Check = {
  name: 'idempotency key',
  after: ['body'],
  readsBody: true,
  run(inspection) {
    const { spec } = inspection.found;
    if (spec.idempotency !== 'required') return undefined;
    const { key, fault } = readKey([...valuesOf(inspection.request, KEY_HEADER), ...inspection.bodyKeys]);
    inspection.idempotencyKey = key;
    return fault === undefined ? undefined : { kind: fault, spec };
  },
};

/** An endpoint without a body accepts `{}`. Other content is refused, because the client expects it to have an effect. */
function checkEmptyBody(
  { bytes = NO_BYTES, found: { spec } }: Inspection,
  { body: rules }: DialectRules,
): CheckOutcome {
  if (bytes.length === 0) return undefined;
  const parsed = parseJson(bytes, rules);
  if (!parsed.ok) return { kind: parsed.fault, spec };
  const [first] = Object.keys(parsed.value);
  if (first === undefined || rules.unknownFields === 'ignored') return undefined;
  return { kind: 'invalid-json', spec, location: { path: [first], reason: 'unknown' } };
}

function readContent(
  inspection: Inspection,
  { spec, kind }: { readonly spec: EndpointSpec; readonly kind: NonNullable<EndpointSpec['body']> },
  { body: rules }: DialectRules,
): CheckOutcome {
  const { bytes = NO_BYTES } = inspection;
  const isAbsent = bytes.length === 0 && rules.absent === 'empty-object' && spec.absentBody !== 'refused';
  const parsed = isAbsent ? ({ ok: true, value: {} } as const) : parseJson(bytes, rules);
  if (!parsed.ok) return { kind: parsed.fault, spec, location: repeatedFieldLocation(bytes, rules) };
  const { fields, keys } =
    spec.idempotency === undefined ? { fields: parsed.value, keys: [] } : split(parsed.value);
  if (keys === undefined) {
    return { kind: 'invalid-json', spec, location: { path: [KEY_FIELD], reason: 'mismatch' } };
  }
  const reading = new Reading({ unknown: rules.unknownFields, nulls: rules.nulls });
  const read = kind.decode(fields, reading);
  if (read === MISMATCH) {
    const { location, locations } = reading;
    return { kind: 'invalid-body', spec, code: spec.bodyFault, location, locations };
  }
  inspection.body = read;
  inspection.bodyKeys = keys;
  return undefined;
}

function repeatedFieldLocation(bytes: Buffer, rules: DialectRules['body']): FaultLocation | undefined {
  const field = repeatedField(bytes, rules);
  return field === undefined ? undefined : { path: [field], reason: 'repeated' };
}

/** Separates the idempotency key from the content. `keys` is undefined if the key is not a string. */
function split(value: object): {
  readonly fields: object;
  readonly keys: readonly string[] | undefined;
} {
  if (!Object.hasOwn(value, KEY_FIELD)) return { fields: value, keys: [] };
  const { [KEY_FIELD]: key, ...fields } = value as Readonly<Record<string, unknown>>;
  return { fields, keys: typeof key === 'string' ? [key] : undefined };
}

/** Load balancers and browsers add parameters of their own to public paths, so these are ignored. */
function isAnyQueryIgnored({ access, method, query }: EndpointSpec): boolean {
  return query === undefined && access === 'public' && method === 'GET';
}

/** A strict dialect refuses unknown parameters, because the client expects them to have an effect. */
export function readQuery(spec: EndpointSpec, raw: string, reading: Reading): unknown {
  if (spec.query !== undefined) return spec.query.read(raw, reading);
  if (raw === '' || isAnyQueryIgnored(spec) || reading.rules.unknown === 'ignored') return undefined;
  return MISMATCH;
}

/** The error code for a query that does not fit the endpoint. */
export function queryFault({ query }: EndpointSpec): string {
  return query?.fault ?? 'invalid_request';
}

export function canQueryFail(spec: EndpointSpec, unknown: Reading['rules']['unknown']): boolean {
  return spec.query !== undefined || (unknown !== 'ignored' && !isAnyQueryIgnored(spec));
}
