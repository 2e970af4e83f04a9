import { defineConfig } from '#libs/platform/settings/config.js';
import { hexKey, integer, listOf } from '#libs/platform/settings/setting-types.js';

/** Settings of a process that serves streams. */
export const streamSettings = defineConfig({
  STREAM_KEYS: {
    schema: listOf(hexKey()),
    describe: 'Keys of resume tokens, separated by commas: the first makes new tokens, all are accepted',
    secret: true,
  },
  STREAM_HEARTBEAT_MS: {
    schema: integer(100, 60_000),
    describe: 'Milliseconds between heartbeats of a stream; a client silent for three of them is closed',
    default: '10000',
  },
  STREAM_HISTORY_EVENTS: {
    schema: integer(100, 10_000_000),
    describe:
      'Events of each shard in memory for streams that resume; older events are read from the database',
    default: '20000',
  },
  STREAM_CONNECTIONS_PER_ACCOUNT: {
    schema: integer(1, 100_000),
    describe: 'Streams that one account may have open at one gateway',
    default: '512',
  },
});
