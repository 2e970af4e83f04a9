import { it } from '@jest/globals';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { CAMPAIGN_WITHIN_MS, expectPromisesKept } from './short-campaign.js';

const SEED = 22;
const FAULTS = [
  'kill:broker',
  'pause:broker',
  'kill:owner',
  'kill:projector',
  'cut:owner-broker',
  'half-open:owner-broker',
];

describeWithKafka('a campaign of faults', { brokers: 0 }, () => {
  it(
    'keeps every promise while brokers and their connections are broken, with journals on three brokers',
    () => expectPromisesKept('kafka', SEED, FAULTS),
    CAMPAIGN_WITHIN_MS,
  );
});
