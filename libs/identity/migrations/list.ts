import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { IdentitySchema1790000050000 } from './1790000050000-identity-schema.js';
import { IdentityRights1790000051000 } from './1790000051000-identity-rights.js';
import { RevocationsStay1790000052000 } from './1790000052000-revocations-stay.js';
import { EndsAreGiven1790000053000 } from './1790000053000-ends-are-given.js';
import { TurnOfEntries1790000054000 } from './1790000054000-turn-of-entries.js';

export const identityMigrations: readonly MigrationClass[] = [
  IdentitySchema1790000050000,
  IdentityRights1790000051000,
  RevocationsStay1790000052000,
  EndsAreGiven1790000053000,
  TurnOfEntries1790000054000,
];
