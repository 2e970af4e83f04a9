import { defineConfig } from '#libs/platform/settings/config.js';
import { hexKey, integer, listOf } from '#libs/platform/settings/setting-types.js';

/** Of a process that serves `/ws`. */
export const socketSettings = defineConfig({
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
});
