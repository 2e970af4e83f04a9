import { it } from '@jest/globals';
import { CAMPAIGN_WITHIN_MS, expectPromisesKept } from './short-campaign.js';

const SEED = 20;
/** One fault for each part that recovers within seconds. */
const FAULTS = [
  'kill:owner',
  'kill:gateway',
  'rival:owner',
  'block:owner',
  'restart:postgres',
  'clock:+5s',
  'half-open:gateway-owner',
  'cut:owner-postgres',
];

it(
  'keeps every promise while processes, clocks and connections are broken, with journals in PostgreSQL',
  () => expectPromisesKept('postgres', SEED, FAULTS),
  CAMPAIGN_WITHIN_MS,
);
