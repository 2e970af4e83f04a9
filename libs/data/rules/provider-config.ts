import { PROVIDER_FACTS, type Provider, type ProviderFacts } from './providers.js';

/** A row of `/providers/configs`. Icons, colours and times of change are not known. */
export interface ProviderConfig {
  readonly id: Provider;
  readonly display_name: string;
  readonly icon_url: string;
  readonly chain_name: string;
  readonly chain_id: string;
  readonly is_active: boolean;
  readonly supported_order_types: ProviderFacts['orderTypes'];
  readonly supports_walk_the_book: boolean;
  readonly supports_token_approval: boolean;
  readonly has_multi_token_markets: boolean;
  readonly auth_flow_type: string;
  readonly token_id_format: string;
  readonly metadata_key_type: string;
  readonly numeric_id: number | null;
  readonly primary_color: string | null;
  readonly created_at: string | null;
  readonly updated_at: string | null;
}

/** `is_active` comes from the provider's flag. */
export function configOf(provider: Provider, is_active: boolean): ProviderConfig {
  const facts = PROVIDER_FACTS[provider];
  return {
    id: provider,
    display_name: `Venue ${provider.slice(-1).toUpperCase()}`,
    icon_url: '',
    chain_name: '',
    chain_id: facts.chainId,
    is_active,
    supported_order_types: facts.orderTypes,
    supports_walk_the_book: facts.walksTheBook,
    supports_token_approval: facts.needsApproval,
    has_multi_token_markets: !facts.isSingleBook,
    auth_flow_type: facts.authFlow,
    token_id_format: facts.tokenIdFormat,
    metadata_key_type: facts.metadataKey,
    numeric_id: facts.numericId,
    primary_color: null,
    created_at: null,
    updated_at: null,
  };
}
