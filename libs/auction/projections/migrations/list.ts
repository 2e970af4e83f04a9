import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialProjections1790000400000 } from './1790000400000-initial-projections.js';

export const projectionMigrations: readonly MigrationClass[] = [InitialProjections1790000400000];
