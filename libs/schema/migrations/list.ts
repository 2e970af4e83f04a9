import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialBounds1790000500000 } from './1790000500000-initial-bounds.js';

export const schemaMigrations: readonly MigrationClass[] = [InitialBounds1790000500000];
