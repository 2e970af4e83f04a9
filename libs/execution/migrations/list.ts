import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialSigner1790000600000 } from './1790000600000-initial-signer.js';

export const executionMigrations: readonly MigrationClass[] = [InitialSigner1790000600000];
