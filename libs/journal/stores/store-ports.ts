import type { Pool } from 'pg';
import { ConfigFault } from '#libs/platform/process/start-fault.js';
import type { JournalFamily } from '../journal-id.js';
import type { RecordMacs } from '../seals/record-macs.js';
import type { Patience } from './until-settled.js';

export interface StorePorts extends Patience {
  /** Whose journals these are. */
  readonly family: JournalFamily;
  readonly databaseUrl: string;
  readonly pool: Pool;
  /** Who this process is to the brokers. */
  readonly instance: string;
  /** Of who writes journals; without them nobody may. */
  readonly seals?: RecordMacs | undefined;
  /** Those that there may be. */
  readonly shards: readonly number[];
}

/** What nobody has sealed no owner would go on from, so nobody begins to write without. */
export function sealsOf({ seals }: StorePorts): RecordMacs {
  if (seals !== undefined) return seals;
  throw new ConfigFault([
    'ID_KEY is not set: who writes to journals seals them with a key that comes from it',
  ]);
}
