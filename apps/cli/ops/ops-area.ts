import type { CommandArea } from '#libs/platform/terminal/commands.js';
import { actions, auctionVoid, limits } from './record-commands.js';
import type { OpsCommand } from './command.js';
import { haltImpose, haltLift, halts } from './halt-commands.js';
import { shardDrain, shardResume, shards } from './shard-commands.js';

/** The operators' terminal. */
export const OPS: CommandArea<OpsCommand> = {
  name: 'ops',
  commands: [shards, shardDrain, shardResume, halts, haltImpose, haltLift, auctionVoid, actions, limits],
  notes: [
    'The gateway is that of --url, else of OPS_URL, else of the cluster that runs on DATA_DIR (.data). Who you are comes from OPS_TOKEN, or',
    'OPS_EMAIL and OPS_PASSWORD, or is asked for on the terminal; it is never an argument. The account needs the role OPERATOR.',
    'Exit codes: 0 done, 1 refused, 64 not called properly, 69 the gateway or what it needs cannot be reached, 78 a wrong setting.',
  ],
};
