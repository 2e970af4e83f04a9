import { describe, expect, it } from '@jest/globals';
import { settingsFor, unfitness, type FoundTopic } from './topic-settings.js';

function topic(
  changed: Readonly<Record<string, string>> = {},
  differing: Partial<FoundTopic> = {},
): FoundTopic {
  const settings = new Map([...settingsFor(3), ...Object.entries(changed)]);
  return { partitions: 1, replicas: 3, start: 0, settings, ...differing };
}

describe('a topic', () => {
  it.each<[string, FoundTopic]>([
    ['as it is created', topic()],
    ['with more room than needed', topic({ 'max.message.bytes': '99999999', 'min.insync.replicas': '3' })],
    ['that allows timestamps an hour off', topic({ 'message.timestamp.after.max.ms': '3600000' })],
    [
      'that writes its own timestamps',
      topic({ 'message.timestamp.type': 'LogAppendTime', 'message.timestamp.after.max.ms': '1000' }),
    ],
  ])('%s is fit for a journal', (_, found) => {
    expect(unfitness(found, 3)).toEqual([]);
  });

  it.each([
    ['retention.ms', '604800000'],
    ['retention.bytes', '1000000'],
    ['cleanup.policy', 'compact'],
    ['unclean.leader.election.enable', 'true'],
    ['compression.type', 'gzip'],
    ['max.message.bytes', '1000000'],
    ['segment.bytes', '1048576'],
    ['min.insync.replicas', '1'],
    ['message.timestamp.before.max.ms', '60000'],
    ['message.timestamp.after.max.ms', '1000'],
    ['message.timestamp.difference.max.ms', '1000'],
  ])('whose %s is %s is unfit', (name, value) => {
    expect(unfitness(topic({ [name]: value }), 3)).toEqual([
      expect.stringContaining(`${name} is ${value} instead of `),
    ]);
  });

  it('with several partitions or too few copies is unfit', () => {
    expect(unfitness(topic({}, { partitions: 2, replicas: 1 }), 3)).toEqual([
      'it has 2 partitions instead of 1',
      'it has 1 replicas instead of 3',
    ]);
  });
});
