import { accessFlag, isSetTo } from '../../rules/flags.js';
import { REGISTERED, type Provider } from '../../rules/providers.js';
import type { DataCaller } from '../callers.js';
import { refuse } from '../refusals.js';
import type { KnownFlags } from './known-flags.js';

const UNVERIFIABLE = 'Unable to verify platform API access';

/**
 * Checks whether API keys may read a provider's trades. Sessions and operators always may. If the flags cannot be read, access is
 * refused.
 */
export class KeyAccess {
  constructor(private readonly flags: Pick<KnownFlags, 'verified'>) {}

  async check(caller: Pick<DataCaller, 'kind'> | undefined, provider: Provider): Promise<void> {
    if (caller?.kind !== 'key') return;
    const settings = await this.flags.verified();
    if (settings === undefined) throw refuse(503, UNVERIFIABLE);
    if (isSetTo(settings, accessFlag(provider))) return;
    const reason = settings.get(accessFlag(provider))?.reason ?? '';
    throw refuse(403, `API access is disabled for ${provider}${reason === '' ? '' : `: ${reason}`}`);
  }

  /** The providers whose trades API keys may read, by id. */
  async allowed(): Promise<readonly Provider[]> {
    const settings = await this.flags.verified();
    if (settings === undefined) throw refuse(503, UNVERIFIABLE);
    return REGISTERED.filter((provider) => isSetTo(settings, accessFlag(provider)));
  }
}
