import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '#libs/client/api-client.js';
import type { AsyncApi } from '#libs/edge/documents/asyncapi-types.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { Random } from '../simulator/kernel/random.js';
import type { Installation } from './installation/installation.js';
import { LoadCaller } from './load/caller.js';
import { CampaignWorkload } from './load/crowd.js';
import { CampaignListener } from './load/listener.js';
import { Spendthrift } from './load/spendthrift.js';
import { Transcript } from './load/transcript.js';

export const LOAD_ACCOUNTS = { makers: 2, originators: 3 };
const ORIGINATORS = [
  'originator-2',
  'originator-3',
  'load-originator-1',
  'load-originator-2',
  'load-originator-3',
];
const MAKERS = ['maker-1', 'maker-2', 'maker-3', 'maker-4', 'load-maker-1', 'load-maker-2'];
/** These accounts do nothing else; see `Spendthrift`. */
const SPENDTHRIFT = { maker: 'maker-5', patron: 'originator-1' };

/** The users of a campaign, and what they remember. */
export interface CampaignAccounts {
  readonly transcript: Transcript;
  readonly originators: readonly LoadCaller[];
  readonly makers: readonly LoadCaller[];
  readonly listeners: readonly CampaignListener[];
  readonly crowd: CampaignWorkload;
}

/** All users are logged in and connected before the first one acts. */
export async function castFor(site: Installation, random: Random): Promise<CampaignAccounts> {
  const { gatewayUrls, seed } = site;
  const anybody = new ApiClient(gatewayUrls[0] ?? '');
  const http = await anybody.get<OpenApi>('/openapi.json');
  const streams = await anybody.get<AsyncApi>('/asyncapi.json');
  anybody.close();
  const transcript = new Transcript(http.body, streams.body);
  const callerOf = (name: string): LoadCaller => {
    const account = seed.users.find(({ email }) => email === `${name}@demo.sotto`)?.account_id ?? '';
    const { password } = seed;
    return new LoadCaller({
      name,
      account,
      password,
      gatewayUrls,
      transcript,
      random: random.fork(`caller ${name}`),
    });
  };
  const [originators, makers] = [ORIGINATORS.map(callerOf), MAKERS.map(callerOf)];
  const [spender, patron] = [callerOf(SPENDTHRIFT.maker), callerOf(SPENDTHRIFT.patron)];
  for (const caller of [...originators, ...makers, spender, patron]) await caller.bearer();
  const listeners = await Promise.all(
    [...makers, ...originators.slice(0, 2)].map((caller) =>
      new CampaignListener(caller, gatewayUrls, transcript, random.fork(`listener ${caller.name}`)).start(),
    ),
  );
  const spendthrift = new Spendthrift({
    maker: spender,
    patron,
    contracts: seed.contracts,
    overspendings: transcript.overspendings,
    random: random.fork('spendthrift'),
    sleep,
  });
  const crowd = new CampaignWorkload({
    originators,
    makers,
    spendthrift,
    listeners: new Map(listeners.map((listener) => [listener.caller.account, listener])),
    contracts: seed.contracts,
    transcript,
    random: random.fork('crowd'),
  });
  return {
    transcript,
    originators: [...originators, patron],
    makers: [...makers, spender],
    listeners,
    crowd,
  };
}
