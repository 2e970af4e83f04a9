import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { activeFlag, isSetTo, type FlagSettings } from '../../rules/flags.js';
import { configOf, type ProviderConfig } from '../../rules/provider-config.js';
import { providerOf, REGISTERED, type Provider } from '../../rules/providers.js';
import type { KnownFlags } from '../flags/known-flags.js';
import type { KeyAccess } from '../flags/key-access.js';
import { refuse } from '../refusals.js';
import { dataReply } from '../replies.js';
import {
  getProviderConfig,
  listApiAccess,
  listProviderConfigs,
  reloadProviderConfigs,
} from './provider-endpoints.js';

const CACHE = 'public, max-age=60';

export interface ProvidersPorts {
  readonly flags: KnownFlags;
  readonly access: KeyAccess;
}

/** Routes about providers and what they support. */
@Injectable()
export class ProvidersController {
  constructor(private readonly ports: ProvidersPorts) {}

  @Endpoint(listProviderConfigs)
  async configs(): Promise<Reply> {
    const settings = await this.ports.flags.lastKnown();
    const configs = REGISTERED.map((provider) => configWith(settings, provider));
    return dataReply({ configs, meta: { count: configs.length } }, { cache: CACHE });
  }

  @Endpoint(getProviderConfig)
  async config({ ids: { provider_id: raw } }: CallOf<typeof getProviderConfig>): Promise<Reply> {
    const provider = providerOf(raw);
    if (provider === undefined || !REGISTERED.includes(provider))
      throw refuse(404, `Provider not found: ${raw}`);
    return dataReply(configWith(await this.ports.flags.lastKnown(), provider), { cache: CACHE });
  }

  @Endpoint(listApiAccess)
  async apiAccess(): Promise<Reply> {
    const providers = await this.ports.access.allowed();
    return dataReply({ providers, meta: { count: providers.length } });
  }

  @Endpoint(reloadProviderConfigs)
  async reload(): Promise<Reply> {
    this.ports.flags.forget();
    const settings = await this.ports.flags.verified();
    if (settings === undefined) throw refuse(503, 'Unable to reload provider configurations');
    return dataReply({ reloaded: true, count: REGISTERED.length });
  }
}

function configWith(settings: FlagSettings, provider: Provider): ProviderConfig {
  return configOf(provider, isSetTo(settings, activeFlag(provider)));
}
