import { expect, it } from '@jest/globals';
import { JournalCorrupt, JournalUnavailable } from './journal-errors.js';

it('names the journal of a failure once, also if damage is the reason', () => {
  const { message } = new JournalCorrupt(1, 4, 'the record is missing');
  expect(new JournalUnavailable(1, message).message).toBe(message);
  expect(new JournalUnavailable(1, 'its topic is gone').message).toBe(
    'journal of shard 1: its topic is gone',
  );
});
