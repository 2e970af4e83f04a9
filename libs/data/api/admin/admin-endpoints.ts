import { type Decoder, MISMATCH, nullable, object } from '#libs/edge/decoding/decode.js';
import { named } from '#libs/edge/documents/components.js';
import { anyText, constant, flag, integerFrom, listOf, record, words } from '#libs/edge/documents/shapes.js';
import { endpoint, type IdKind } from '#libs/edge/endpoint.js';
import type { IngestState } from '../../store/freshness-table.js';
import { microsOfTime } from '../../rules/times.js';
import { bodyBoolean, bodyText } from '../bodies.js';
import { ADMIN } from '../callers.js';
import { orNull, timeShape } from '../reply-shapes.js';
import { providerInPath } from '../providers/provider-endpoints.js';

const LONGEST_REASON = 200;

const flagName: IdKind = {
  fault: 'unknown_flag',
  accepts: () => true,
  describe: () => ({ type: 'string' }),
};

/** Microseconds. Times beyond the range of safe integers are clamped to it. */
const bodyTime: Decoder<number> = {
  decode(value, reading) {
    const micros = typeof value === 'string' ? microsOfTime(value) : undefined;
    if (micros !== undefined) {
      return Math.min(Math.max(micros, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
    }
    reading?.explain({ type: 'datetime_parsing', message: 'It must be a time of ISO 8601', input: value });
    return MISMATCH;
  },
  describe: () => ({ type: 'string', format: 'date-time' }),
};

const count = integerFrom(0);

const flagShown = named(
  'Flag',
  record({ name: anyText, enabled: flag, reason: orNull(anyText), updated_at: orNull(timeShape) }),
);

const providerProgress = named(
  'IngestProgress',
  record({
    ...{ provider: anyText, source: orNull(anyText) },
    state: words<IngestState>({
      running: 'Its events are journaled and projected',
      paused: 'Its events are journaled only',
      failed: 'It is stopped until the process starts again',
    }),
    ...{ journal_head: count, applied: count, lag_events: count, newest_source_ts: orNull(timeShape) },
    ...{ gaps: count, conflicts: count, quarantined: count },
    alarms: listOf(record({ kind: anyText, at: timeShape, detail: anyText })),
  }),
);

const recordedFile = named(
  'RecordedFile',
  record({
    ...{ file: anyText, bytes: count, read_bytes: count, lines: count, applied_lines: count },
    ...{ refused_count: count, refused: listOf(record({ line: count, reason: anyText })) },
  }),
);

const FLAG_PATH = '/admin/flags/:name';
const UNKNOWN_FLAG = { 404: ['Flag not found: <name>'] };
const UNKNOWN_PROVIDER = { 400: ['Unknown provider: <name>'] };

export const getFlag = endpoint({
  operationId: 'getFlag',
  method: 'GET',
  path: FLAG_PATH,
  access: 'session',
  role: ADMIN,
  ids: { name: flagName },
  summary: 'Get a flag',
  answers: { 200: { description: 'Its setting, or its default if it was never set.', body: flagShown } },
  statuses: UNKNOWN_FLAG,
});

export const setFlag = endpoint({
  operationId: 'setFlag',
  method: 'PUT',
  path: FLAG_PATH,
  access: 'session',
  role: ADMIN,
  ids: { name: flagName },
  body: object({
    required: { enabled: bodyBoolean },
    optional: { reason: nullable(bodyText(0, LONGEST_REASON)) },
  }),
  summary: 'Set a flag; it takes effect everywhere within five seconds',
  answers: { 200: { description: 'The new setting.', body: flagShown } },
  statuses: UNKNOWN_FLAG,
});

export const removeFlag = endpoint({
  operationId: 'removeFlag',
  method: 'DELETE',
  path: FLAG_PATH,
  access: 'session',
  role: ADMIN,
  ids: { name: flagName },
  summary: 'Reset a flag to its default',
  answers: { 204: { description: 'The flag has its default.' } },
  statuses: UNKNOWN_FLAG,
});

export const listIngest = endpoint({
  operationId: 'listIngest',
  method: 'GET',
  path: '/admin/ingest',
  access: 'session',
  role: ADMIN,
  summary: 'The progress and alarms of each provider, and of each recorded file',
  answers: {
    200: {
      description: 'By provider and by file.',
      body: record({ providers: listOf(providerProgress), recorded: listOf(recordedFile) }),
    },
  },
});

const rowsOfProvider = {
  200: {
    description: 'The progress of the provider.',
    body: record({ providers: listOf(providerProgress) }),
  },
};

export const pauseProvider = endpoint({
  operationId: 'pauseProvider',
  method: 'POST',
  path: '/admin/ingest/:provider/pause',
  access: 'session',
  role: ADMIN,
  ids: { provider: providerInPath },
  summary: 'Pause a provider: its events are journaled, but not shown',
  answers: rowsOfProvider,
  statuses: UNKNOWN_PROVIDER,
});

export const resumeProvider = endpoint({
  operationId: 'resumeProvider',
  method: 'POST',
  path: '/admin/ingest/:provider/resume',
  access: 'session',
  role: ADMIN,
  ids: { provider: providerInPath },
  summary: 'Resume a provider',
  answers: rowsOfProvider,
  statuses: UNKNOWN_PROVIDER,
});

export const backfillProvider = endpoint({
  operationId: 'backfillProvider',
  method: 'POST',
  path: '/admin/ingest/:provider/backfill',
  access: 'session',
  role: ADMIN,
  ids: { provider: providerInPath },
  body: object({ required: { from: bodyTime }, optional: { to: bodyTime } }),
  summary: 'Read a time span of a provider again; events already known change nothing',
  answers: { 202: { description: 'The span will be read.', body: record({ accepted: constant(true) }) } },
  statuses: { 400: ['Unknown provider: <name>', 'to must be after from'] },
});
