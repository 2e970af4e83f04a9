import { defineConfig } from '#libs/platform/settings/config.js';
import { hexKey, integer, listOf } from '#libs/platform/settings/setting-types.js';

/** Of a process that serves streams. */
export const streamSettings = defineConfig({
  STREAM_KEYS: {
    schema: listOf(hexKey()),
    describe: 'Keys of resume tokens, separated by commas: the first one seals, all of them open',
    secret: true,
  },
  STREAM_HEARTBEAT_MS: {
    schema: integer(100, 60_000),
    describe: 'Time between two heartbeats of a stream; a client that is silent for three of them is closed',
    default: '10000',
  },
  STREAM_HISTORY_EVENTS: {
    schema: integer(100, 10_000_000),
    describe:
      'Events of each shard that a gateway remembers for streams that are resumed; older ones are read',
    default: '20000',
  },
  STREAM_CONNECTIONS_PER_ACCOUNT: {
    schema: integer(1, 100_000),
    describe: 'Streams that one account may have open at one gateway',
    default: '512',
  },
});
