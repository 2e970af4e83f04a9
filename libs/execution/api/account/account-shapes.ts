import { enumOf, text } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import { anyText, listOf, optional, record, type Shape } from '#libs/edge/documents/shapes.js';

const moment: Shape = { describe: () => ({ type: 'string', format: 'date-time' }) };
const count: Shape = { describe: () => ({ type: 'integer', minimum: 0 }) };
const hex64 = text({ pattern: /^[0-9a-f]{64}$/ });

const keyFields = {
  client_id: text({ pattern: /^sotto_ck_[0-9a-f]{24}$/ }),
  name: anyText,
  preset: optional(enumOf(['readonly', 'trading'])),
  scopes: listOf(anyText),
  ip_allow_list: listOf(anyText),
  orders_per_minute: optional(count),
  expires_at: optional(moment),
  created_at: moment,
  last_used_at: optional(moment),
};
const secrets = { api_key: hex64, api_secret: hex64 };

export const apiKey = named('ApiKey', record(keyFields));
export const apiKeys = named('ApiKeys', record({ api_keys: listOf(apiKey) }));
export const issuedKey = named('IssuedApiKey', record({ ...keyFields, ...secrets }));
export const rotatedKey = named(
  'RotatedApiKey',
  record({ ...keyFields, ...secrets, previous_valid_until: moment }),
);

export const scopes = named(
  'CredentialScopes',
  record({
    user_id: anyText,
    auth_method: enumOf(['api_key', 'session']),
    client_id: optional(anyText),
    scopes: listOf(anyText),
    scope_model: enumOf(['explicit', 'unrestricted']),
    rate_limits: record({ orders_per_minute: optional(count) }),
    venues: listOf(
      record({
        exchange_id: anyText,
        api_access_enabled: { describe: () => ({ type: ['boolean', 'null'] }) },
        trading_linked: { describe: () => ({ type: 'boolean' }) },
        link_with: optional(anyText),
      }),
    ),
    as_of: moment,
  }),
);

export const limits = named(
  'AccountLimits',
  record({
    limits: listOf(
      record({
        limit: anyText,
        scope: enumOf(['USER', 'KEY']),
        max: count,
        window_ms: count,
        remaining: count,
        resets_at: moment,
      }),
    ),
    as_of: moment,
  }),
);
