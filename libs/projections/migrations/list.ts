import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { CompletedSchema1790000400000 } from './1790000400000-completed-schema.js';
import { ExecutionSchema1790000401000 } from './1790000401000-execution-schema.js';
import { AuditSchema1790000402000 } from './1790000402000-audit-schema.js';
import { NamedLeases1790000405000 } from './1790000405000-named-leases.js';
import { ViewersByAuction1790000404000 } from './1790000404000-viewers-by-auction.js';
import { ViewersByPosition1790000403000 } from './1790000403000-viewers-by-position.js';

export const projectionMigrations: readonly MigrationClass[] = [
  CompletedSchema1790000400000,
  ExecutionSchema1790000401000,
  AuditSchema1790000402000,
  ViewersByPosition1790000403000,
  ViewersByAuction1790000404000,
  NamedLeases1790000405000,
];
