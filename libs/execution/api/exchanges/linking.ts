import type { Reply } from '#libs/edge/reply/reply.js';
import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import { printTime } from '../../rules/record.js';
import type { VenueId } from '../../rules/venues.js';
import type { ExecutorClient } from '../executor-client.js';
import { BodyFields } from '../fields.js';
import { refuse } from '../refusals.js';

const CODE = 'VALIDATION_INVALID_PARAMETER';
const TERMS = '2026-11';
const ATTESTATIONS = ['residency', 'age', 'terms'] as const;
const LONGEST_PEM = 16_384;

interface Credentials {
  readonly key_id: string;
  readonly private_key_pem: string;
}

/** Checks that the caller accepts the terms, and reads the credentials of its own account, if it has one. */
export function readLinking(record: JsonRecord): Credentials | undefined {
  const fields = new BodyFields(record, ['terms_version', 'attestations', 'credentials'], CODE);
  const version = fields.requiredText('terms_version');
  if (version !== TERMS) {
    throw refuse(CODE, `The terms in force are ${TERMS}`, { field: 'terms_version', current: TERMS });
  }
  const attested = memberOf(fields, 'attestations', ATTESTATIONS);
  if (attested === undefined) throw fields.missing('attestations');
  for (const name of ATTESTATIONS) if (attested.flag(name) !== true) throw attested.wrong(name);
  const credentials = memberOf(fields, 'credentials', ['key_id', 'private_key_pem']);
  if (credentials === undefined) return undefined;
  return {
    key_id: credentials.requiredText('key_id'),
    private_key_pem: credentials.requiredText(
      'private_key_pem',
      (text) => text.length > 0 && text.length <= LONGEST_PEM,
    ),
  };
}

function memberOf(fields: BodyFields, name: string, known: readonly string[]): BodyFields | undefined {
  const value = fields.valueOf(name);
  if (value === undefined) return undefined;
  if (!isRecord(value)) throw fields.wrong(name);
  return new BodyFields(value, known, CODE);
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** When the account was linked. Undefined if it is not linked yet. */
export async function linkVenue(
  executor: ExecutorClient,
  { user_id }: Pick<ApiCaller, 'user_id'>,
  {
    venue,
    request_id,
    credentials,
  }: { venue: VenueId; request_id: string; credentials?: Credentials | undefined },
): Promise<string | undefined> {
  const reply = await executor.told<'link_venue'>({
    ...{ op: 'link_venue', request_id, user_id, venue },
    ...(credentials === undefined ? {} : { credentials }),
  });
  return reply.linked_at === undefined ? undefined : printTime(reply.linked_at);
}

export function linkedReply(venue: VenueId, linked_at: string | undefined): Reply {
  return linked_at === undefined
    ? { status: 202, body: { exchange_id: venue, status: 'pending' } }
    : { status: 200, body: { exchange_id: venue, trading_linked: true, linked_at } };
}
