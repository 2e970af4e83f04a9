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
  /** The name of this process for the brokers. */
  readonly instance: string;
  /** Needed to write. */
  readonly seals?: RecordMacs | undefined;
  /** All that the family may have. */
  readonly shards: readonly number[];
}

/** No owner goes on after a record without a MAC, so no writer begins without keys. */
export function sealsOf({ seals }: StorePorts): RecordMacs {
  if (seals !== undefined) return seals;
  throw new ConfigFault([
    'ID_KEY is not set: who writes to journals seals them with a key that comes from it',
  ]);
}
