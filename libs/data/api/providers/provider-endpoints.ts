import { named } from '#libs/edge/documents/components.js';
import { anyText, constant, flag, integerFrom, listOf, record, words } from '#libs/edge/documents/shapes.js';
import { endpoint, type IdKind } from '#libs/edge/endpoint.js';
import { ADMIN } from '../callers.js';
import { orNull, weakTag } from '../reply-shapes.js';

/** Accepts any text: the handler refuses an unknown provider with its own message. */
export const providerInPath: IdKind = {
  fault: 'unknown_provider',
  accepts: () => true,
  describe: () => ({ type: 'string' }),
};

const count = integerFrom(0);

const config = named(
  'ProviderConfig',
  record({
    ...{ id: anyText, display_name: anyText, icon_url: anyText, chain_name: anyText, chain_id: anyText },
    is_active: flag,
    supported_order_types: listOf(
      words({
        limit: 'Fills at its price or better',
        market: 'Fills at once',
        fok: 'Fills at once and whole, or not at all',
      }),
    ),
    ...{ supports_walk_the_book: flag, supports_token_approval: flag, has_multi_token_markets: flag },
    auth_flow_type: words({
      none: 'No credential',
      wallet_signature: 'A wallet signs',
      api_key: 'A key of the venue',
    }),
    token_id_format: words({ opaque: 'Any text', clob_uint256: 'Digits' }),
    metadata_key_type: words({ marketId: 'A market id', conditionId: 'A condition id' }),
    ...{ numeric_id: orNull(integerFrom(0)), primary_color: orNull(anyText) },
    ...{ created_at: orNull(anyText), updated_at: orNull(anyText) },
  }),
);

const counted = record({ count });
const CACHE = { 'cache-control': constant('public, max-age=60'), etag: weakTag };

export const listProviderConfigs = endpoint({
  operationId: 'listProviderConfigs',
  method: 'GET',
  path: '/providers/configs',
  access: 'public',
  summary: 'All providers, and what they can do',
  answers: {
    200: { description: 'By id.', body: record({ configs: listOf(config), meta: counted }), headers: CACHE },
  },
});

export const getProviderConfig = endpoint({
  operationId: 'getProviderConfig',
  method: 'GET',
  path: '/providers/configs/:provider_id',
  access: 'public',
  ids: { provider_id: providerInPath },
  summary: 'One provider; the name ignores case',
  answers: { 200: { description: 'What it can do.', body: config, headers: CACHE } },
  statuses: { 404: ['Provider not found: <id>'] },
});

export const listApiAccess = endpoint({
  operationId: 'listApiAccess',
  method: 'GET',
  path: '/providers/api-access',
  access: 'public',
  summary: 'The providers whose trades calls with API keys may read',
  answers: {
    200: { description: 'Their ids.', body: record({ providers: listOf(anyText), meta: counted }) },
  },
  statuses: { 503: ['Unable to verify platform API access'] },
});

export const reloadProviderConfigs = endpoint({
  operationId: 'reloadProviderConfigs',
  method: 'POST',
  path: '/providers/configs/reload',
  access: 'session',
  role: ADMIN,
  summary: 'Read the flags of all providers again, at once',
  answers: { 200: { description: 'The flags are read.', body: record({ reloaded: constant(true), count }) } },
  statuses: { 503: ['Unable to reload provider configurations'] },
});
