import { PROVIDER_FACTS, providerOfNumber, REGISTERED, type Provider } from '../../rules/providers.js';
import { unknownProviderDetail } from '../refusals.js';
import { problem, providerName, type ProviderRules, type TextKind } from '../text-kinds.js';

export interface ProviderAsSent {
  readonly provider: Provider;
  /** As the caller wrote it, for a refusal that names it. */
  readonly raw: string;
}

export function providerAsSent(rules: ProviderRules): TextKind<ProviderAsSent> {
  const kind = providerName(rules);
  return {
    read(text) {
      const read = kind.read(text);
      return 'value' in read ? { value: { provider: read.value, raw: text } } : read;
    },
    describe: () => kind.describe(),
  };
}

const INTEGER = /^-?[0-9]+$/;

/** Finds a provider by its number. */
export const providerNumber: TextKind<Provider> = {
  read(text) {
    if (!INTEGER.test(text)) return problem('int_parsing', 'It must be a whole number');
    const value = providerOfNumber(Number(text));
    return value === undefined ? { refused: unknownProviderDetail(text) } : { value };
  },
  describe: () => ({
    type: 'integer',
    enum: REGISTERED.flatMap((provider) => PROVIDER_FACTS[provider].numericId ?? []),
  }),
};
